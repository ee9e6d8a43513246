"""Callers who give up in the middle of an append."""

import asyncio
import contextlib
from collections import Counter

import asyncpg

from baohuang.eventlog.port import Append, Appended, Duplicate, EventLog, StreamId
from baohuang.eventlog.postgres.log import PostgresLog, open_log
from eventlog.commands import after, command, new_stream

PATIENCE = [step * 0.0004 for step in range(20)]
"""Seconds after which the caller gives up: from before the command is queued until after it is answered."""


async def give_up_after(log: EventLog, wanted: Append, seconds: float) -> None:
    """Append, and stop waiting after a while."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await log.append(wanted)


async def retried(log: EventLog, wanted: Append) -> int:
    """Send the same command again until it is settled, and return the version it ended at."""
    outcome = await log.append(wanted)
    assert isinstance(outcome, Appended | Duplicate), outcome
    return outcome.version


async def impatient_writer(log: EventLog, stream_id: StreamId) -> None:
    """Append one event after the other, giving up each at another moment and sending it again."""
    for seconds in PATIENCE:
        head = await log.head(stream_id)
        wanted = after(stream_id, head) if head else command(stream_id)
        await give_up_after(log, wanted, seconds)
        await retried(log, wanted)


async def test_retries_converge(log: EventLog) -> None:
    """Whenever eight writers are cancelled, the same request sent again settles it, once."""
    streams = [new_stream() for _ in range(8)]
    await asyncio.gather(*(impatient_writer(log, stream_id) for stream_id in streams))
    for stream_id in streams:
        events = await log.read_stream(stream_id)
        assert [event.version for event in events] == list(range(1, len(PATIENCE) + 1))


async def test_eight_on_one_stream(log: EventLog) -> None:
    """Cancelled in the middle of a race for one version, one writer at most has won it."""
    stream_id = new_stream()
    for seconds in PATIENCE:
        head = await log.head(stream_id)
        wanted = [after(stream_id, head) if head else command(stream_id) for _ in range(8)]
        await asyncio.gather(*(give_up_after(log, one, seconds) for one in wanted))
        outcomes = Counter([type(await log.append(one)) for one in wanted])
        assert outcomes[Appended] + outcomes[Duplicate] == 1
    assert len(await log.read_stream(stream_id)) == len(PATIENCE)


async def test_steps_of_the_event_loop(log: EventLog) -> None:
    """Cancelled after any number of steps of the loop, an append is done whole or not at all."""
    for steps in range(12):
        wanted = command(new_stream(), events=(*command(new_stream()).events,) * 3)
        task = asyncio.create_task(log.append(wanted))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert await retried(log, wanted) == 3
        assert len(await log.read_stream(wanted.stream_id)) == 3


async def test_the_pool_stays_whole(own_database_dsn: str) -> None:
    """After a storm of cancelled appends and reads no session is left in a transaction and every read is served."""
    admin = await asyncpg.connect(own_database_dsn)
    async with open_log(own_database_dsn, readers=2) as log:
        for seconds in PATIENCE:
            await asyncio.gather(*(give_up_after(log, command(new_stream()), seconds) for _ in range(8)))
            await asyncio.gather(*(_read_impatiently(log, seconds) for _ in range(8)))
        await asyncio.gather(*(log.read_all() for _ in range(8)))
        await log.append(command(new_stream()))
        states = await admin.fetch(
            "select state from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
        )
        assert {row["state"] for row in states} == {"idle"}
        assert len(states) <= 3
    await admin.close()


async def _read_impatiently(log: PostgresLog, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await log.read_all()
