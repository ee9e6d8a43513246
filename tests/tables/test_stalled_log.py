"""A log that stands still: nobody is blamed for it, and no turn begins in the past."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TypeVar

import pytest
from structlog.testing import capture_logs

from baohuang.eventlog.codec import decode
from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import Append, EventLog, Outcome, StreamId
from baohuang.rules.events import Event, TrusteeshipEntered, TurnExtended
from baohuang.rules.phases.asking import seats_to_act
from baohuang.rules.state import Table, TableId
from bench.random_player import chance_of, choose
from table_service.clock import DatabaseClock
from tables.logs import FrontLog
from tables.virtual_time import EPOCH, NEVER_POLLS, OPTIONS, PLAYERS, VirtualTime, keeper

E = TypeVar("E", bound=Event)


class Stalling(FrontLog):
    """While `seconds` are set, an append takes so long that time goes on by them before it is settled."""

    def __init__(self, behind: EventLog, time: VirtualTime) -> None:
        super().__init__(behind)
        self._time = time
        self.seconds: list[float] = []
        self.appends = 0

    async def append(self, command: Append) -> Outcome:
        """Append, later."""
        self.appends += 1
        if self.seconds:
            self._time.seconds += self.seconds.pop(0)
        return await self.behind.append(command)


@pytest.fixture
def time() -> VirtualTime:
    """Give a time that goes on only when told to."""
    return VirtualTime()


@pytest.fixture
def log(time: VirtualTime) -> Stalling:
    """Give a log whose clock is that time."""
    return Stalling(MemoryLog(time.now), time)


async def events_of(log: EventLog, table_id: TableId, kind: type[E]) -> Sequence[E]:
    """Return a table's events of one type."""
    stored = await log.read_stream(StreamId(table_id))
    return [event for one in stored if isinstance(event := decode(one.type, one.data), kind)]


def due_at(table: Table) -> datetime:
    """Return the deadline of the turn."""
    assert table.hand
    return datetime.fromisoformat(table.hand.due_at)


async def test_a_deadline_is_not_enforced_by_an_old_reading(log: Stalling, time: VirtualTime) -> None:
    """TRUST-5: decided in time and stored long after grace, it is decided again, and the turn extended."""
    async with keeper(log, time, NEVER_POLLS) as replica:
        table_id = await replica.started()
        log.seconds = [OPTIONS.grace_seconds + 5.0]
        await replica.advance(OPTIONS.turn_seconds + 0.1)
        assert await events_of(log, table_id, TrusteeshipEntered) == []
        (extended,) = await events_of(log, table_id, TurnExtended)
        assert datetime.fromisoformat(extended.decided_at) == time.now()
        assert due_at(await replica.table(table_id)) == time.now() + timedelta(seconds=OPTIONS.turn_seconds)


async def test_a_turn_begins_when_it_is_stored(log: Stalling, time: VirtualTime) -> None:
    """A move stored ten seconds after it was made leaves the next seat all of its time."""
    async with keeper(log, time, NEVER_POLLS) as replica:
        table_id = await replica.started()
        table = await replica.table(table_id)
        assert table.hand
        (seat,) = seats_to_act(table.hand)
        log.seconds = [10.0]
        await replica.act(table_id, PLAYERS[seat], choose(table, seat, chance_of("stalled")))
        assert due_at(await replica.table(table_id)) == time.now() + timedelta(seconds=OPTIONS.turn_seconds)


async def test_a_log_that_is_always_slow_still_takes_moves(log: Stalling, time: VirtualTime) -> None:
    """The move is stored at the fourth try, however late; a deadline is not: it waits, and is then extended."""
    async with keeper(log, time, NEVER_POLLS) as replica:
        table_id = await replica.started()
        table = await replica.table(table_id)
        assert table.hand
        (seat,) = seats_to_act(table.hand)
        log.appends, log.seconds = 0, [2.0] * 4
        await replica.act(table_id, PLAYERS[seat], choose(table, seat, chance_of("slow")))
        assert log.appends == 4
        log.appends, log.seconds = 0, [2.0] * 3
        with capture_logs() as lines:
            await replica.advance(OPTIONS.turn_seconds + 0.1)
        assert log.appends == 3
        assert [line["event"] for line in lines] == ["deadline not fired"]
        assert await events_of(log, table_id, TrusteeshipEntered) == []


class SlowClock(FrontLog):
    """Its clock takes `seconds` to be read; what it shows is read at the end of them."""

    def __init__(self, behind: EventLog, time: VirtualTime) -> None:
        super().__init__(behind)
        self._time = time
        self.seconds: list[float] = []

    async def clock(self) -> datetime:
        """Read the clock, slowly."""
        self._time.seconds += self.seconds.pop(0) if self.seconds else 0.0
        return await self.behind.clock()


async def test_a_reading_that_took_long_is_not_believed(time: VirtualTime) -> None:
    """Half of a long round trip says little of when the clock was read: the reading before stands."""
    log = SlowClock(MemoryLog(time.now), time)
    clock = DatabaseClock(log, lambda: time.seconds)
    await clock.measure()
    assert clock.now() == EPOCH
    log.seconds = [10.0] * 9
    await clock.measure()
    assert clock.now() == time.now()


async def test_the_first_reading_is_the_quickest_of_some(time: VirtualTime) -> None:
    """There is none before it; so it is taken again, and the one that took least is believed."""
    log = SlowClock(MemoryLog(time.now), time)
    clock = DatabaseClock(log, lambda: time.seconds)
    log.seconds = [10.0, 0.01, 4.0]
    await clock.measure()
    assert abs(clock.now() - time.now()) <= timedelta(seconds=0.005)
