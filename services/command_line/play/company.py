"""The person and his four bots at their tables."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Final

from baohuang.client import Credentials, MoveRefusedError, TableClient, connect
from baohuang.rpc.reason import Reason
from baohuang.rules.rulesets import Options
from baohuang.rules.state import Hand, PlayerId, TableId, in_progress
from command_line.bots.errands import may_take_back
from command_line.bots.runner import Bot
from command_line.identities import Identify
from command_line.play.bot_names import is_bot

_SEAT: Final = 0
"""The person's at a table that he opens."""


@dataclass(frozen=True, slots=True)
class Sought:
    """The table wanted: its ruleset and options."""

    ruleset: str
    options: Options


@dataclass(frozen=True, slots=True)
class Place:
    """Where the person sits, and his bots there. `hands_before` is the number of the last hand that is over there."""

    table_id: TableId
    seat: int
    bots: Sequence[Bot]
    hands_before: int = 0


class BotClients:
    """Gives bots, each with a connection of its own, made when the player is first asked for."""

    def __init__(self, address: str, identify: Identify, think_seconds: float, connections: AsyncExitStack) -> None:
        self._address = address
        self._identify = identify
        self._think_seconds = think_seconds
        self._connections = connections
        self._clients: dict[PlayerId, TableClient] = {}

    async def bot(self, player: PlayerId, seat: int) -> Bot:
        """Return the player as a bot for the seat."""
        if player not in self._clients:
            client = connect(self._address, self._identify(player))
            self._clients[player] = await self._connections.enter_async_context(client)
        return Bot(self._clients[player], seat, think_seconds=self._think_seconds)


@dataclass(frozen=True, slots=True)
class Company:
    """Five players, each on a connection of its own: the person, by his name, and bots, four of them at a new table."""

    name: PlayerId
    person: TableClient
    bot_names: Sequence[PlayerId]
    bots: BotClients

    async def new_place(self, sought: Sought) -> Place:
        """Open a table at which the person sits, nobody ready yet. Raises ClientError."""
        table_id = (await self.person.open_table(sought.ruleset, sought.options)).table_id
        await self.person.sit_down(table_id, _SEAT)
        seats = range(_SEAT + 1, _SEAT + 1 + len(self.bot_names))
        bots = [await self.bots.bot(name, seat) for name, seat in zip(self.bot_names, seats, strict=True)]
        return Place(table_id, _SEAT, bots)

    async def seat_again(self, place: Place, sought: Sought) -> Place:
        """See that the person sits, who may have been unseated (TABLE-1); at a new table if this one is closed.

        Returns where he sits. Raises ClientError.
        """
        try:
            await self.person.sit_down(place.table_id, place.seat)
        except MoveRefusedError as refused:
            if refused.reason == Reason.TABLE_CLOSED:
                return await self.new_place(sought)
            if refused.reason != Reason.ALREADY_SEATED:
                raise
        return place

    async def left_behind(self) -> Place | None:
        """Return where the person is in a hand already, as after his terminal died; None if he is in none."""
        async for summary in self.person.list_tables(player=self.name):
            if summary.hand_in_progress and (place := await self.in_hand_at(summary.table_id)):
                return place
        return None

    async def in_hand_at(self, table_id: TableId) -> Place | None:
        """Return the person's place in the hand played at the table; None if he is in none there, or forfeited it.

        Four bots of this command that play with him, whose terminal died with his, are his again. Raises ClientError.
        """
        table = (await self.person.get_table(table_id)).table
        hand = table.hand
        if hand is None or not in_progress(table) or self.name not in hand.players:
            return None
        seat = hand.players.index(self.name)
        if hand.fines[seat]:
            return None
        return Place(table_id, seat, await self._bots_of(hand, seat), hand.number - 1)

    async def start_hand(self, place: Place) -> None:
        """Seat the bots and get all ready, the person last: the hand has started then. Raises ClientError."""
        for bot in place.bots:
            await bot.take_place(place.table_id)
        await self.person.set_ready(place.table_id, ready=True)

    async def take_seat_back(self, place: Place) -> None:
        """Take the person's seat in a hand back from the trustee, while it may be (TRUST-3). Raises ClientError."""
        view = await self.person.get_table(place.table_id)
        if may_take_back(view.table, place.seat):
            await _unless_over(self.person.set_trusteeship(place.table_id, active=False))

    async def leave_hand(self, place: Place) -> None:
        """Let the trustee play for the bots too, so that the hand of a person who left does not wait for them."""
        await asyncio.gather(*(_unless_over(bot.client.leave_table(place.table_id)) for bot in place.bots))

    async def stand_up(self, place: Place) -> None:
        """Leave the seats after a hand; a table that was dissolved has none."""
        clients = (self.person, *(bot.client for bot in place.bots))
        await asyncio.gather(*(_unless_over(client.stand_up(place.table_id)) for client in clients))

    async def _bots_of(self, hand: Hand, own: int) -> Sequence[Bot]:
        """Return the bots at the other seats; none where a person sits too, whose terminal plays them."""
        others = {seat: player for seat, player in enumerate(hand.players) if seat != own}
        if not all(is_bot(player) for player in others.values()):
            return ()
        return [await self.bots.bot(player, seat) for seat, player in others.items()]


@asynccontextmanager
async def company_at(
    address: str,
    name: PlayerId,
    person: Credentials,
    *,
    bot_names: Sequence[PlayerId],
    identify_bot: Identify,
    think_seconds: float,
) -> AsyncIterator[Company]:
    """Connect the person, and his bots when they are needed, to the service at "host:port"."""
    async with AsyncExitStack() as connections:
        client = await connections.enter_async_context(connect(address, person))
        yield Company(name, client, bot_names, BotClients(address, identify_bot, think_seconds, connections))


async def _unless_over(call: Awaitable[object]) -> None:
    """Make the call; that there is nothing left to leave is no matter."""
    try:
        await call
    except MoveRefusedError:
        return
