"""Many writers in several processes, and a reader on their heels."""

import asyncio
from collections import Counter
from collections.abc import Sequence

import pytest

from baohuang.eventlog import chain
from baohuang.eventlog.port import NO_POSITION, EventLog, StoredEvent, StreamId
from baohuang.eventlog.postgres.log import PostgresLog, open_log
from eventlog.commands import accepted, after, command, new_stream
from eventlog.processes import run_module

PROCESSES = 3
WRITERS = 11


async def tail(log: EventLog, count: int) -> Sequence[StoredEvent]:
    """Follow the log by position alone until so many events are seen."""
    seen: list[StoredEvent] = []
    async with asyncio.timeout(60):
        while len(seen) < count:
            seen.extend(await log.read_all(seen[-1].position if seen else NO_POSITION, limit=50))
    return seen


@pytest.mark.parametrize(("streams", "appends"), [(1, 1), (8, 3), (33, 3)])
async def test_one_winner_a_version_and_no_hole(own_database_dsn: str, streams: int, appends: int) -> None:
    """33 writers in three processes: each version won once, positions 1, 2, 3, …, and a tailing reader misses none."""
    names = [new_stream() for _ in range(streams)]
    total = PROCESSES * WRITERS * appends
    async with open_log(own_database_dsn) as log:
        tailing = asyncio.create_task(tail(log, total))
        replica = ("eventlog.writers", own_database_dsn, str(WRITERS), str(appends), *names)
        printed = await asyncio.gather(*(run_module(*replica) for _ in range(PROCESSES)))
        seen = await tailing
        won = [tuple(line.split()) for lines in printed for line in lines.splitlines()]
        assert sorted(won) == sorted(
            (event.stream_id, str(event.version), str(event.position), event.hash.hex()) for event in seen
        )
        assert [event.position for event in seen] == list(range(1, total + 1))
        await _check_streams(log, names, Counter(event.stream_id for event in seen))


async def _check_streams(log: EventLog, names: Sequence[StreamId], lengths: Counter[StreamId]) -> None:
    for name in names:
        events = await log.read_stream(name)
        assert [event.version for event in events] == list(range(1, lengths[name] + 1))
        chain.verify_end(chain.verify(chain.start(name), events), await log.head(name))


async def test_concurrent_tables_share_a_transaction(postgres_log: PostgresLog, database_dsn: str) -> None:
    """Commands that wait together are committed together: that is what makes it fast."""
    streams = [new_stream() for _ in range(20)]
    ends = await asyncio.gather(*(accepted(postgres_log, command(stream_id)) for stream_id in streams))
    await asyncio.gather(
        *(accepted(postgres_log, after(stream_id, end)) for stream_id, end in zip(streams, ends, strict=True))
    )
    rows = await postgres_log._fetch(  # the transaction of each row is the database's own record of it
        "select count(distinct xmin::text) as transactions from eventlog.events where stream_id = any ($1)", streams
    )
    assert rows[0]["transactions"] == 2


async def test_one_stream_in_one_process(log: EventLog) -> None:
    """32 writers that all decided on the same version: one wins, the others learn its hash."""
    stream_id = new_stream()
    end = await accepted(log, command(stream_id))
    outcomes = await asyncio.gather(*(log.append(after(stream_id, end)) for _ in range(32)))
    head = await log.head(stream_id)
    assert head is not None
    assert head.version == 2
    kinds = Counter(type(outcome).__name__ for outcome in outcomes)
    assert kinds == {"Appended": 1, "VersionConflict": 31}
    assert {getattr(outcome, "hash", None) for outcome in outcomes} == {head.hash}


async def test_one_request_from_many_sides(log: EventLog) -> None:
    """The same request sent 32 times at once, to the same and to other streams, is accepted once."""
    stream_id = new_stream()
    commands = [command(stream_id, request_id=f"many-{stream_id}") for _ in range(16)]
    commands += [command(new_stream(), request_id=f"many-{stream_id}") for _ in range(16)]
    outcomes = await asyncio.gather(*(log.append(one) for one in commands))
    assert Counter(type(outcome).__name__ for outcome in outcomes) == {"Appended": 1, "Duplicate": 31}
