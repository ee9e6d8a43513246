"""Players who queue, alone or as friends, play hand after hand where they are seated, and note what was answered."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field
from random import Random
from typing import Final

import grpc

from baohuang.client import (
    DevelopmentIdentity,
    Matched,
    MatchmakingClient,
    Moment,
    MoveRefusedError,
    Receipt,
    TableClient,
    Ticket,
    TicketState,
)
from baohuang.client.calls import channel_to
from baohuang.client.commands import Request
from baohuang.rules.rulesets import Options
from baohuang.rules.state import PlayerId, TableId, TableStatus
from command_line.bots.errands import Errand, errand, hand_is_closed
from command_line.bots.policy import choose
from command_line.identities import Identify
from up.kills.scale import Scale

GIVES_UP: Final = 0.1
"""How likely one who gives up does so, each time it is his turn."""


@dataclass(frozen=True, slots=True)
class Noted:
    """An answer: who was told that his command is stored, and where."""

    player: PlayerId
    request_id: str
    receipt: Receipt


class NotingClient(TableClient):
    """Notes every command that was acknowledged."""

    def __init__(
        self, channel: grpc.aio.Channel, player: PlayerId, notes: list[Noted], identify: Identify = DevelopmentIdentity
    ) -> None:
        super().__init__(channel, identify(player))
        self._player = player
        self._notes = notes

    async def _carry_out(self, request: Request) -> Receipt:
        receipt = await super()._carry_out(request)
        self._note(request, receipt)
        return receipt

    def _note(self, request: Request, receipt: Receipt) -> None:
        self._notes.append(Noted(self._player, request.request_id, receipt))


def staying() -> bool:
    """Never forfeit."""
    return False


async def at_once() -> None:
    """Think for no time at all."""


def giving_up(chance: Random) -> Callable[[], bool]:
    """Forfeit sooner or later."""
    return lambda: chance.random() < GIVES_UP


@dataclass(slots=True)
class Player:
    """One player, with a connection of his own to the tables. `played` are the tables where he sat."""

    name: PlayerId
    tables: TableClient
    queues: MatchmakingClient
    gives_up: Callable[[], bool] = staying
    """Tells, at each of his turns in the last hand of a sitting, whether he forfeits his seat (FINE-2)."""
    thinks: Callable[[], Awaitable[None]] = at_once
    """Is waited for before each of his moves."""
    played: list[TableId] = field(default_factory=list)
    fined: int = 0
    tickets: list[Ticket] = field(default_factory=list)

    async def seated(self, ticket: Ticket) -> Matched:
        """Wait for a seat."""
        self.tickets.append(ticket)
        closed = await self.queues.closed(ticket.ticket_id)
        assert closed.state is TicketState.MATCHED, closed
        assert closed.matched is not None
        assert closed.matched.players[closed.matched.seat] == self.name
        return closed.matched

    async def play(self, table_id: TableId, seat: int, hands: int) -> None:
        """Play so many hands of a new table and leave it."""
        self.played.append(table_id)
        last = await self._play(table_id, seat, hands)
        if last.table.status is TableStatus.OPEN:
            await self.tables.stand_up(table_id)

    async def _play(self, table_id: TableId, seat: int, hands: int) -> Moment:
        past = 0
        async with aclosing(self.tables.watch(table_id)) as moments:
            async for moment in moments:
                if moment.table.hands_played < hands:
                    if moment.version >= past and moment.posted is None:
                        past = await self._do(moment, seat, hands, past)
                elif hand_is_closed(moment.table):
                    return moment
        raise AssertionError("a watch has no end of its own")

    async def _do(self, moment: Moment, seat: int, hands: int, past: int) -> int:
        """Do what the table asks for and return the version before which all is past.

        A refusal comes of an old view, so a newer one is under way.
        """
        table_id = moment.table.table_id
        try:
            match errand(moment.table, seat, self.name):
                case Errand.MOVE if moment.table.hands_played == hands - 1 and self.gives_up():
                    past = (await self.tables.forfeit_seat(table_id)).version
                    self.fined += 1
                case Errand.MOVE:
                    await self.thinks()
                    past = (await self.tables.act(table_id, choose(moment.table, seat))).version
                case Errand.TAKE_BACK:
                    past = (await self.tables.set_trusteeship(table_id, active=False)).version
                case Errand.GET_READY:
                    past = (await self.tables.set_ready(table_id, ready=True, entropy=self.name)).version
                case _:
                    pass
        except MoveRefusedError:
            return past
        return past


@dataclass(frozen=True, slots=True)
class Kind:
    """How the players of a table come to it: friends queue together in companies of these sizes, or none queues."""

    ruleset: str
    companies: tuple[int, ...]
    options: Options = field(default_factory=Options)
    queues: bool = True


KINDS: Final = (
    Kind("ourgame-simple", (1, 1, 1, 1, 1)),
    Kind("homy-standard", (5,)),
    Kind("homy-classic", (2, 3)),
    Kind("homy-weihai", (3,), Options(bots=True)),
    Kind("ourgame-classic", (5,), queues=False),
    Kind("homy-qingdao", (2, 1, 1, 1)),
)


async def queued(company: Sequence[Player], kind: Kind) -> Sequence[Ticket]:
    """Have friends queue together."""
    leader, *others = company
    ticket = await leader.queues.create_ticket(kind.ruleset, kind.options, size=len(company))
    joined = await asyncio.gather(*(other.queues.join_party(ticket.party.party_code) for other in others))
    return [ticket, *joined]


async def sit_together(company: Sequence[Player], kind: Kind, hands: int) -> None:
    """Have friends queue together and play where they are seated."""
    tickets = await queued(company, kind)
    seats = await asyncio.gather(*(one.seated(ticket) for one, ticket in zip(company, tickets, strict=True)))
    assert len({matched.table_id for matched in seats}) == 1
    async with asyncio.TaskGroup() as tasks:
        for player, matched in zip(company, seats, strict=True):
            tasks.create_task(player.play(matched.table_id, matched.seat, hands))


async def sit_by_themselves(company: Sequence[Player], kind: Kind, hands: int) -> None:
    """Have five open a table and sit down there."""
    opened = await company[0].tables.open_table(kind.ruleset, kind.options)
    async with asyncio.TaskGroup() as tasks:
        for seat, player in enumerate(company):
            await player.tables.sit_down(opened.table_id, seat)
            tasks.create_task(player.play(opened.table_id, seat, hands))


@dataclass(slots=True)
class People:
    """All who play, by how they come to their tables, and what they noted. An async context manager's product."""

    companies: list[tuple[Kind, list[Player]]]
    notes: list[Noted]

    def count(self, kind: Kind) -> int:
        """Return how many companies come to their tables like that."""
        return sum(one == kind for one, _ in self.companies)

    @property
    def all(self) -> Sequence[Player]:
        """All players."""
        return [player for _, company in self.companies for player in company]


async def people(stack: AsyncExitStack, tables: str, matchmaking: str, scale: Scale) -> People:
    """Return the players of all tables; at every other table there is one who gives up now and then."""
    notes: list[Noted] = []
    companies = []
    for number in range(scale.tables):
        kind = KINDS[number % len(KINDS)]
        for which, size in enumerate(kind.companies):
            company = []
            for one in range(size):
                name = PlayerId(f"p{number}-{which}-{one}")
                channel = await stack.enter_async_context(channel_to(tables))
                queues = await stack.enter_async_context(channel_to(matchmaking))
                client = NotingClient(channel, name, notes)
                company.append(Player(name, client, MatchmakingClient(queues, DevelopmentIdentity(name))))
            companies.append((kind, company))
            if number % 2 == 0 and which == 0:
                company[0].gives_up = giving_up(scale.chance(company[0].name))
    return People(companies, notes)
