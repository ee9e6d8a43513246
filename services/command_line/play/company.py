"""The person and his four bots at their tables."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Final

from baohuang.client import Credentials, MoveRefusedError, TableClient, connect
from baohuang.rpc.reason import Reason
from baohuang.rules.deal import SEATS
from baohuang.rules.rulesets import Options
from baohuang.rules.state import TableId
from command_line.bots.runner import Bot

SEAT: Final = 0
"""The person's."""


@dataclass(frozen=True, slots=True)
class Sought:
    """The table wanted: its ruleset and options."""

    ruleset: str
    options: Options


@dataclass(frozen=True, slots=True)
class Company:
    """Five players, each on a connection of its own: the person and four bots."""

    person: TableClient
    bots: Sequence[Bot]

    async def new_table(self, sought: Sought) -> TableId:
        """Open a table at which the person sits, nobody ready yet. Raises ClientError."""
        table_id = (await self.person.open_table(sought.ruleset, sought.options)).table_id
        await self.person.sit_down(table_id, SEAT)
        return table_id

    async def seat_again(self, table_id: TableId, sought: Sought) -> TableId:
        """See that the person sits, who may have been unseated (TABLE-1); at a new table if this one is closed.

        Returns the table. Raises ClientError.
        """
        try:
            await self.person.sit_down(table_id, SEAT)
        except MoveRefusedError as refused:
            if refused.reason == Reason.TABLE_CLOSED:
                return await self.new_table(sought)
            if refused.reason != Reason.ALREADY_SEATED:
                raise
        return table_id

    async def start_hand(self, table_id: TableId) -> None:
        """Seat the bots and get all ready, the person last: the hand has started then. Raises ClientError."""
        for bot in self.bots:
            await bot.take_place(table_id)
        await self.person.set_ready(table_id, ready=True)

    async def leave_hand(self, table_id: TableId) -> None:
        """Let the trustee play for the bots too, so that the hand of a person who left does not wait for them."""
        await asyncio.gather(*(_unless_over(bot.client.leave_table(table_id)) for bot in self.bots))

    async def stand_up(self, table_id: TableId) -> None:
        """Leave the seats after a hand; a table that was dissolved has none."""
        clients = (self.person, *(bot.client for bot in self.bots))
        await asyncio.gather(*(_unless_over(client.stand_up(table_id)) for client in clients))


@asynccontextmanager
async def company_at(
    address: str, person: Credentials, bots: Sequence[Credentials], think_seconds: float
) -> AsyncIterator[Company]:
    """Connect the five to the service at "host:port"."""
    async with AsyncExitStack() as connections:
        client = await connections.enter_async_context(connect(address, person))
        clients = [await connections.enter_async_context(connect(address, bot)) for bot in bots]
        seats = (seat for seat in range(SEATS) if seat != SEAT)
        yield Company(
            client, [Bot(bot, seat, think_seconds=think_seconds) for bot, seat in zip(clients, seats, strict=True)]
        )


async def _unless_over(call: Awaitable[object]) -> None:
    """Make the call; that there is nothing left to leave is no matter."""
    try:
        await call
    except MoveRefusedError:
        return
