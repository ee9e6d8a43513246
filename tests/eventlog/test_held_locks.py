"""Somebody's open transaction: what it delays, and what it must not."""

import asyncio

import asyncpg
import pytest
from sqlalchemy import make_url

from baohuang.database.group_commit import Pace
from baohuang.eventlog.port import Appended, LogBusy, OutcomeUnknown
from baohuang.eventlog.postgres.connections import Limits
from baohuang.eventlog.postgres.log import PostgresLog, open_log
from databases import Server
from eventlog.commands import accepted, after, command, grow, new_stream
from eventlog.transactions import append_within, open_transaction, waits_for_a_lock
from eventually import eventually

KILL_WHO_WAITS = (
    "select pg_terminate_backend(pid) from pg_stat_activity"
    " where datname = current_database() and wait_event_type = 'Lock'"
)


async def test_a_held_head_delays_its_stream_alone(postgres_log: PostgresLog, database_dsn: str) -> None:
    """While somebody holds one head all other streams go on; when he lets go that one does too."""
    held, *others = [new_stream() for _ in range(6)]
    ends = {stream_id: await grow(postgres_log, stream_id, 2) for stream_id in (held, *others)}
    async with open_transaction(database_dsn) as somebody:
        await somebody.execute("select from eventlog.heads where stream_id = $1 for update", held)
        delayed = asyncio.create_task(accepted(postgres_log, after(held, ends[held])))
        async with asyncio.timeout(2):
            for _ in range(3):
                for stream_id in others:
                    ends[stream_id] = await accepted(postgres_log, after(stream_id, ends[stream_id]))
        assert not delayed.done()
    assert (await delayed).version == 3


async def test_a_stream_in_the_making_delays_itself_alone(postgres_log: PostgresLog, database_dsn: str) -> None:
    """While somebody creates a stream, others are created; when he gives up, the name is free."""
    made = new_stream()
    async with open_transaction(database_dsn) as somebody:
        await somebody.execute(
            "select pg_advisory_xact_lock('eventlog.heads'::regclass::oid::integer, hashtext($1))", made
        )
        delayed = asyncio.create_task(accepted(postgres_log, command(made)))
        async with asyncio.timeout(2):
            for _ in range(5):
                await accepted(postgres_log, command(new_stream()))
        assert not delayed.done()
    assert (await delayed).version == 1


async def test_a_stream_made_by_another_replica(postgres_log: PostgresLog, database_dsn: str) -> None:
    """Two replicas make the same stream: the second waits for the first and loses to it."""
    stream_id = new_stream()
    async with open_transaction(database_dsn) as somebody:
        await append_within(somebody, command(stream_id))
        second = asyncio.create_task(postgres_log.append(command(stream_id)))
        await eventually(lambda: _was_asked(postgres_log))
        assert not second.done()
        await somebody.execute("commit")
    head = await postgres_log.head(stream_id)
    assert head is not None
    outcome = await second
    assert (type(outcome).__name__, getattr(outcome, "hash", None)) == ("VersionConflict", head.hash)


async def _was_asked(log: PostgresLog) -> bool:
    return bool(log._commits._queue.length or log._commits._in_flight)


@pytest.mark.parametrize(("end", "kept"), [("commit", 1), ("rollback", 0)])
async def test_a_position_held_open(own_database_dsn: str, end: str, kept: int) -> None:
    """A position is taken and held; others append and a reader polls; then it ends: nothing skipped, no hole."""
    held, *others = [new_stream() for _ in range(4)]
    async with open_log(own_database_dsn) as log, open_transaction(own_database_dsn) as somebody:
        await append_within(somebody, command(held))
        later = [asyncio.create_task(accepted(log, command(stream_id))) for stream_id in others]
        await eventually(lambda: waits_for_a_lock(somebody))
        assert await log.read_all() == ()
        await somebody.execute(end)
        await asyncio.gather(*later)
        seen = await log.read_all()
        assert [event.position for event in seen] == list(range(1, len(others) + kept + 1))
        assert [event.stream_id for event in seen[:kept]] == [held][:kept]


async def test_patience_has_an_end(database_dsn: str) -> None:
    """A head held for longer than a command may wait: its caller is told that nothing was written."""
    stream_id = new_stream()
    async with open_log(database_dsn, pace=Pace(patience=0.3)) as log:
        end = await accepted(log, command(stream_id))
        wanted = after(stream_id, end)
        async with open_transaction(database_dsn) as somebody:
            await somebody.execute("select from eventlog.heads where stream_id = $1 for update", stream_id)
            with pytest.raises(LogBusy):
                await log.append(wanted)
        assert await log.find_request(wanted.actor, wanted.request_id) is None
        assert isinstance(await log.append(wanted), Appended)


async def test_a_held_counter_stops_nobody_for_ever(database_dsn: str) -> None:
    """With the counter held, flushes give up their locks in time; afterwards every command is appended once."""
    streams = [new_stream() for _ in range(5)]
    async with open_log(database_dsn, limits=Limits(lock_ms=50)) as log:
        async with open_transaction(database_dsn) as somebody:
            await somebody.execute("select from eventlog.counter for update")
            waiting = [asyncio.create_task(accepted(log, command(stream_id))) for stream_id in streams]
            # The flush of all five has failed when the first goes alone.
            await eventually(lambda: _goes_alone(log))
        for appended in await asyncio.gather(*waiting):
            assert appended.version == 1


async def _goes_alone(log: PostgresLog) -> bool:
    return any(waiting.alone for waiting in log._commits._in_flight)


async def test_a_connection_killed_in_the_middle_of_a_flush(database_dsn: str) -> None:
    """The server ends the flush's session before the commit: the command is sent again and appended once."""
    stream_id = new_stream()
    async with open_log(database_dsn) as log:
        async with open_transaction(database_dsn) as somebody:
            await somebody.execute("select from eventlog.counter for update")
            waiting = asyncio.create_task(accepted(log, command(stream_id)))
            await eventually(lambda: waits_for_a_lock(somebody))
            await somebody.execute(KILL_WHO_WAITS)
        assert (await waiting).version == 1
        assert len(await log.read_stream(stream_id)) == 1


async def test_a_lost_connection_that_never_comes_back(postgres_server: Server, own_database_dsn: str) -> None:
    """No connection in time after one was lost: the caller is told that the outcome is unknown."""
    name = make_url(own_database_dsn).database
    admin = await asyncpg.connect(postgres_server.dsn)
    async with open_log(own_database_dsn, pace=Pace(patience=0.5)) as log, open_transaction(own_database_dsn) as held:
        await held.execute("select from eventlog.counter for update")
        waiting = asyncio.create_task(log.append(command(new_stream())))
        await eventually(lambda: waits_for_a_lock(held))
        await admin.execute(f"alter database {name} with allow_connections false")
        await held.execute(KILL_WHO_WAITS)
        with pytest.raises(OutcomeUnknown):
            await waiting
    await admin.close()
