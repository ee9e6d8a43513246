"""Timers: set by appends, claimed by whoever looks, asked of each event log."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

import asyncpg
import pytest

from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import Due, EventLog, StreamId, TooEarly, TooLate, Version
from baohuang.eventlog.postgres.log import PostgresLog
from eventlog.commands import NOON, accepted, command, grow, new_stream

ALL = 10_000
LONG = 3600.0
"""A lease that no test outlives."""
SECOND = timedelta(seconds=1)
HOUR = timedelta(hours=1)


async def claimed(log: EventLog, stream_id: StreamId, lease_seconds: float = LONG) -> list[Due]:
    """Claim all that is due, and give what of it is the stream's."""
    return [due for due in await log.claim_due(ALL, lease_seconds) if due.stream_id == stream_id]


async def armed(log: EventLog, due_at: datetime) -> StreamId:
    """Make a stream of one event with a timer."""
    stream_id = new_stream()
    await accepted(log, command(stream_id, due_at=due_at))
    return stream_id


async def overdue(log: EventLog, count: int) -> Sequence[StreamId]:
    """Make streams whose timers are due, each a second later than the one before."""
    now = await log.clock()
    return [await armed(log, now - (count - n) * SECOND) for n in range(count)]


async def test_a_due_timer_is_claimed_once_per_lease(log: EventLog) -> None:
    """It comes with its moment and the version that armed it, and to nobody else while the lease lasts."""
    due_at = await log.clock() - SECOND
    stream_id = await armed(log, due_at)
    assert await claimed(log, stream_id) == [Due(stream_id, Version(1), due_at)]
    assert await claimed(log, stream_id) == []


async def test_an_expired_lease_is_claimed_again(log: EventLog) -> None:
    """Whoever claimed it may be gone; a lease of no time at all is over at once."""
    (stream_id,) = await overdue(log, 1)
    assert len(await claimed(log, stream_id, 0)) == 1
    assert len(await claimed(log, stream_id, LONG)) == 1
    assert await claimed(log, stream_id) == []


async def test_a_timer_still_to_come_is_nobody_s(log: EventLog) -> None:
    """The store's clock decides what is due."""
    stream_id = await armed(log, await log.clock() + HOUR)
    assert await claimed(log, stream_id) == []


async def test_an_append_replaces_the_timer(log: EventLog) -> None:
    """Its moment, version and lease: what was claimed before is claimed anew if due, and not if still to come."""
    now = await log.clock()
    stream_id = new_stream()
    end = await accepted(log, command(stream_id, due_at=now - 3 * SECOND))
    assert len(await claimed(log, stream_id)) == 1
    end = await accepted(log, command(stream_id, end.version, end.hash, due_at=now - SECOND))
    assert await claimed(log, stream_id) == [Due(stream_id, Version(2), now - SECOND)]
    end = await accepted(log, command(stream_id, end.version, end.hash, due_at=now + HOUR))
    assert await claimed(log, stream_id) == []


async def test_an_append_that_leaves_the_moment_leaves_the_timer(log: EventLog) -> None:
    """The lease and the version that armed it stand: the same deadline is not claimed twice for it."""
    now = await log.clock()
    stream_id = new_stream()
    end = await accepted(log, command(stream_id, due_at=now - SECOND))
    assert len(await claimed(log, stream_id, 0)) == 1
    end = await accepted(log, command(stream_id, end.version, end.hash, due_at=now - SECOND))
    assert await claimed(log, stream_id) == [Due(stream_id, Version(1), now - SECOND)]
    await accepted(log, command(stream_id, end.version, end.hash, due_at=now - SECOND))
    assert await claimed(log, stream_id) == []


async def test_an_append_without_a_timer_takes_it_away(log: EventLog) -> None:
    """Nothing is due any more, however long it was; a refused append takes nothing away."""
    stream_id = new_stream()
    end = await accepted(log, command(stream_id, due_at=await log.clock() - SECOND))
    await log.append(command(stream_id))
    assert len(await claimed(log, stream_id, 0)) == 1
    await accepted(log, command(stream_id, end.version, end.hash, due_at=None))
    assert await claimed(log, stream_id) == []


async def test_the_longest_due_come_first(log: EventLog) -> None:
    """As many as were asked for, and the rest to the next claim."""
    await log.claim_due(ALL, LONG)
    streams = await overdue(log, 5)
    first = await log.claim_due(2, LONG)
    rest = await log.claim_due(ALL, LONG)
    assert [due.stream_id for due in first] == streams[:2]
    assert [due.stream_id for due in rest] == streams[2:]


async def test_claimers_never_share_a_timer(log: EventLog) -> None:
    """Eight who claim at once in small bites get every timer, each once."""
    await log.claim_due(ALL, LONG)
    streams = await overdue(log, 40)
    rounds = [await asyncio.gather(*(log.claim_due(3, LONG) for _ in range(8))) for _ in range(4)]
    got = [due.stream_id for bites in rounds for bite in bites for due in bite]
    assert sorted(got) == sorted(streams)


async def test_an_append_before_its_time_is_refused(log: EventLog) -> None:
    """Nothing is written, its request id is free, and the timer stays as it was."""
    now = await log.clock()
    stream_id = new_stream()
    end = await accepted(log, command(stream_id, due_at=now - SECOND))
    early = command(stream_id, end.version, end.hash, request_id=f"early-{stream_id}", not_before=now + HOUR)
    assert await log.append(early) == TooEarly(now + HOUR)
    assert await log.find_request(early.actor, early.request_id) is None
    assert len(await log.read_stream(stream_id)) == 1
    assert len(await claimed(log, stream_id)) == 1
    await accepted(log, command(stream_id, end.version, end.hash, not_before=now))


async def test_a_moment_is_looked_at_after_request_and_version(log: EventLog) -> None:
    """A duplicate and a conflict are told as such, however early."""
    stream_id = new_stream()
    end = await grow(log, stream_id, 2)
    later = await log.clock() + HOUR
    first = command(stream_id, 2, end.hash, request_id=f"first-{stream_id}")
    await accepted(log, first)
    again = command(stream_id, 3, bytes(32), request_id=first.request_id, not_before=later)
    stale = command(stream_id, 1, end.hash, not_before=later)
    outcomes = [type(await log.append(one)).__name__ for one in (again, stale)]
    assert outcomes == ["Duplicate", "VersionConflict"]


async def test_early_commands_leave_the_rest_of_their_flush_alone(log: EventLog) -> None:
    """Together with appends in time they are refused, and positions have no holes."""
    later = await log.clock() + HOUR
    commands = [command(new_stream(), not_before=later if n % 2 else None) for n in range(10)]
    outcomes = await asyncio.gather(*(log.append(one) for one in commands))
    assert [type(outcome).__name__ for outcome in outcomes] == ["Appended", "TooEarly"] * 5
    positions = [event.position for event in await log.read_all(limit=100_000)]
    assert positions == list(range(1, len(positions) + 1))


async def test_an_append_past_its_latest_moment_is_refused(log: EventLog) -> None:
    """Nothing is written, its request id is free, the timer stays; the rest of the flush goes through."""
    now = await log.clock()
    stream_id = new_stream()
    end = await accepted(log, command(stream_id, due_at=now - SECOND))
    late = command(stream_id, end.version, end.hash, request_id=f"late-{stream_id}", not_after=now - SECOND)
    others = [command(new_stream(), not_after=now + HOUR) for _ in range(3)]
    outcomes = await asyncio.gather(*(log.append(one) for one in (late, *others)))
    assert outcomes[0] == TooLate(now - SECOND)
    assert [type(outcome).__name__ for outcome in outcomes[1:]] == ["Appended"] * 3
    assert await log.find_request(late.actor, late.request_id) is None
    assert len(await log.read_stream(stream_id)) == 1
    assert len(await claimed(log, stream_id)) == 1


async def test_a_latest_moment_is_looked_at_after_request_and_version(log: EventLog) -> None:
    """A duplicate and a conflict are told as such, however late; an early command as early."""
    stream_id = new_stream()
    end = await grow(log, stream_id, 2)
    now = await log.clock()
    past, later = now - HOUR, now + HOUR
    first = command(stream_id, 2, end.hash, request_id=f"first-{stream_id}")
    third = await accepted(log, first)
    again = command(stream_id, 3, bytes(32), request_id=first.request_id, not_after=past)
    stale = command(stream_id, 1, end.hash, not_after=past)
    early = command(stream_id, 3, third.hash, not_before=later, not_after=later)
    outcomes = [type(await log.append(one)).__name__ for one in (again, stale, early)]
    assert outcomes == ["Duplicate", "VersionConflict", "TooEarly"]


@pytest.mark.parametrize("field", ["due_at", "not_before", "not_after"])
def test_moments_are_utc(field: str) -> None:
    """A naive instant is a mistake of the caller, told at once."""
    with pytest.raises(ValueError, match=field):
        command(new_stream(), **{field: NOON.replace(tzinfo=None)})  # type: ignore[arg-type]


async def test_a_lease_runs_out_by_the_store_s_clock() -> None:
    """Not before its last moment and not after it."""
    now = NOON
    log = MemoryLog(lambda: now)
    stream_id = await armed(log, NOON)
    assert len(await claimed(log, stream_id, 1.5)) == 1
    now = NOON + timedelta(seconds=1.499999)
    assert await claimed(log, stream_id, 1.5) == []
    now = NOON + timedelta(seconds=1.5)
    assert len(await claimed(log, stream_id, 1.5)) == 1


async def test_a_timer_somebody_holds_is_passed_over(postgres_log: PostgresLog, database_dsn: str) -> None:
    """A claim does not wait for a timer that an open transaction has locked; once it is let go, it is claimed."""
    held, free = await overdue(postgres_log, 2)
    somebody = await asyncpg.connect(database_dsn)
    async with somebody.transaction():
        await somebody.execute("select from eventlog.timers where stream_id = $1 for update", held)
        async with asyncio.timeout(2):
            got = {due.stream_id for due in await postgres_log.claim_due(ALL, LONG)}
    await somebody.close()
    assert free in got
    assert held not in got
    assert len(await claimed(postgres_log, held)) == 1


async def test_a_claim_reads_the_index_and_not_the_table(postgres_log: PostgresLog, database_dsn: str) -> None:
    """Among ten thousand timers still to come the few that are due are found by their moment."""
    (due,) = await overdue(postgres_log, 1)
    connection = await asyncpg.connect(database_dsn)
    await connection.execute(
        """
        insert into eventlog.timers (stream_id, due_at, armed_for_version)
        select 'many-' || n, clock_timestamp() + make_interval(hours => n), 1 from generate_series(1, 10000) as n
        """
    )
    await connection.execute("analyze eventlog.timers")
    plan = await connection.fetch(
        "explain select stream_id from eventlog.timers where due_at <= statement_timestamp() order by due_at limit 64"
    )
    await connection.execute("delete from eventlog.timers where stream_id like 'many-%'")
    await connection.close()
    assert any("timers_by_due_at" in row[0] for row in plan)
    assert len(await claimed(postgres_log, due)) == 1
