"""Replicas of the table service without their network, in a time that goes on only when a test says so."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from baohuang.eventlog.port import EventLog, RequestId
from baohuang.rules.commands import Action, LostLine, OpenTable, SetReady, SitDown
from baohuang.rules.rulesets import Options
from baohuang.rules.state import Instant, PlayerId, Table, TableId
from table_service.clock import DatabaseClock
from table_service.curtain import Learnt
from table_service.deadlines import Deadlines, Pace
from table_service.handler import CommandHandler
from table_service.request import Done, Request
from table_service.seeds import DevelopmentSeeds
from table_service.tables import Tables

EPOCH = datetime(2026, 5, 4, 12, tzinfo=UTC)
QUICK = Pace(poll_seconds=0.005)
"""Polls again and again in real time, which is not the time of these tables."""
NEVER_POLLS = Pace(poll_seconds=3600)
OPTIONS = Options(turn_seconds=5, declare_seconds=5, grace_seconds=3)
PLAYERS = tuple(PlayerId(name) for name in ("an", "bo", "cai", "du", "en"))


def company(number: int) -> tuple[PlayerId, ...]:
    """Return the five players of one table among many: each plays in one hand at a time (FINE-6)."""
    return tuple(PlayerId(f"{player}-{number}") for player in PLAYERS)


@dataclass(slots=True)
class Alarm:
    """A callback to come."""

    at: float
    ring: Callable[[], None]
    cancelled: bool = False

    def cancel(self) -> None:
        """Call it off."""
        self.cancelled = True


@dataclass(slots=True)
class VirtualTime:
    """Seconds since the beginning, and what is to happen when."""

    seconds: float = 0.0
    alarms: list[Alarm] = field(default_factory=list)

    def now(self) -> datetime:
        """Return the moment it is, UTC."""
        return EPOCH + timedelta(seconds=self.seconds)

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Alarm:
        """Call back in so many seconds."""
        self.alarms.append(Alarm(self.seconds + seconds, callback))
        return self.alarms[-1]

    @property
    def alive(self) -> Sequence[Alarm]:
        """The alarms still to ring."""
        return [alarm for alarm in self.alarms if not alarm.cancelled]

    def advance(self, seconds: float) -> None:
        """Let so much time pass, and ring the alarms in it at their moments."""
        end = self.seconds + seconds
        while due := [alarm for alarm in self.alive if alarm.at <= end]:
            first = min(due, key=lambda alarm: alarm.at)
            self.alarms.remove(first)
            self.seconds = max(self.seconds, first.at)
            first.ring()
        self.seconds = end


class NoStreams:
    """The lines of players at replicas without a network: nothing is known of them."""

    def lost(self, table_id: TableId, due_at: Instant) -> tuple[LostLine, ...]:  # noqa: ARG002
        """See `KnownLines.lost`."""
        return ()

    def watching(self, table_id: TableId, due_at: Instant) -> tuple[int, ...]:  # noqa: ARG002
        """See `KnownLines.watching`."""
        return ()


@dataclass(slots=True)
class Keeper:
    """One replica; its own clock runs `ahead` by so many seconds."""

    log: EventLog
    time: VirtualTime
    pace: Pace
    clock: DatabaseClock = field(init=False)
    tables: Tables = field(init=False)
    handler: CommandHandler = field(init=False)
    deadlines: Deadlines = field(init=False)
    ahead: float = 0.0

    def __post_init__(self) -> None:
        self.clock = DatabaseClock(self.log, lambda: self.time.seconds + self.ahead)
        self.tables = Tables(self.log, self._tell)
        self.handler = CommandHandler(self.log, self.tables, self.clock, DevelopmentSeeds(7))
        call_later = self.time.call_later
        self.deadlines = Deadlines(self.log, self.handler, self.clock, NoStreams(), self.pace, call_later=call_later)

    def _tell(self, table_id: TableId, learnt: Sequence[Learnt]) -> None:
        self.deadlines.learn(table_id, learnt[-1].happened.table)

    async def act(self, table_id: TableId, player: PlayerId, action: Action) -> Done:
        """Carry out a player's command."""
        request_id = secrets.token_hex(8)
        return await self.handler.handle(Request(table_id, player, RequestId(request_id), b"", action))

    async def seated(self, players: Sequence[PlayerId] = PLAYERS) -> TableId:
        """Open a table at which all five sit."""
        table_id = TableId(secrets.token_hex(8))
        await self.act(table_id, players[0], OpenTable(table_id, "ourgame-simple", OPTIONS))
        for seat, player in enumerate(players):
            await self.act(table_id, player, SitDown(seat))
        return table_id

    async def all_ready(self, table_id: TableId) -> None:
        """Get all five ready, which starts a hand."""
        for taken in (await self.table(table_id)).seats:
            await self.act(table_id, taken.player, SetReady(ready=True))

    async def started(self, players: Sequence[PlayerId] = PLAYERS) -> TableId:
        """Open a table and start its first hand."""
        table_id = await self.seated(players)
        await self.all_ready(table_id)
        return table_id

    async def table(self, table_id: TableId) -> Table:
        """Return the table as the log has it now."""
        table = (await self.tables.current(table_id)).table
        assert table is not None
        return table

    async def advance(self, seconds: float) -> None:
        """Let time pass, and what this replica fires in it come to its end."""
        self.time.advance(seconds)
        await self.fired()

    async def fired(self) -> None:
        """Wait for all that is being fired."""
        while firing := list(self.deadlines._firing.values()):
            await asyncio.gather(*firing, return_exceptions=True)


@asynccontextmanager
async def keeper(log: EventLog, time: VirtualTime, pace: Pace = QUICK) -> AsyncIterator[Keeper]:
    """Give a replica that keeps its tables' deadlines until the end of the block."""
    replica = Keeper(log, time, pace)
    await replica.clock.measure()
    async with replica.deadlines:
        yield replica
    await replica.handler.finish()


def seconds_later(seconds: float) -> str:
    """Return the instant so long after the beginning, as events have it."""
    return (EPOCH + timedelta(seconds=seconds)).isoformat(timespec="microseconds")[:26] + "Z"
