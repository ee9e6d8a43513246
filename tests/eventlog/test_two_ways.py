"""The two ways through the store: one statement appends just what the function that settles everything would have."""

from collections.abc import Sequence
from datetime import timedelta
from secrets import token_bytes
from typing import Any

import pytest
from msgspec.structs import replace

from baohuang.eventlog.chain import SALT_BYTES, link
from baohuang.eventlog.port import Append, Appended, ClaimName, Head, StreamId
from baohuang.eventlog.postgres.connections import Limits, open_writer
from baohuang.eventlog.postgres.flush import only_advances
from baohuang.eventlog.postgres.group_commit import Linked
from baohuang.eventlog.postgres.log import PostgresLog
from eventlog.commands import LONG_AFTER, PLAYED, STARTED, accepted, after, command, new_stream
from eventlog.flushing import flusher_over

_ROWS = """
select (select jsonb_agg(to_jsonb(e) - array['position', 'stream_id', 'request_id', 'salt', 'hash'] order by version)
        from eventlog.events as e where e.stream_id = $1) as events,
       (select jsonb_agg(to_jsonb(r) - array['stream_id', 'request_id'] order by version)
        from eventlog.requests as r where r.stream_id = $1) as requests,
       (select to_jsonb(h) - array['stream_id', 'hash'] from eventlog.heads as h where h.stream_id = $1) as head,
       (select to_jsonb(t) - 'stream_id' from eventlog.timers as t where t.stream_id = $1) as timer
"""
CHANGES: dict[str, dict[str, Any]] = {
    "nothing else": {},
    "two events": {"events": (PLAYED, STARTED)},
    "the summary": {"summary": b'{"players":["bo"]}'},
    "the timer": {"due_at": LONG_AFTER + timedelta(days=1)},
    "a moment reached": {"not_before": LONG_AFTER - timedelta(days=36524)},
}


def linked(one: Append) -> Linked:
    """Chain a command, ready to be sent."""
    return Linked(one, link(one, [token_bytes(SALT_BYTES) for _ in one.events]))


async def rows_of(log: PostgresLog, stream_id: StreamId) -> Sequence[object]:
    """Give everything that is stored of a stream but what is its own by chance."""
    (row,) = await log._fetch(_ROWS, stream_id)
    return tuple(row)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_both_leave_the_same(postgres_log: PostgresLog, database_dsn: str, change: dict[str, Any]) -> None:
    """Events, requests, heads and timers, and what the caller is told of them."""
    streams = [new_stream(), new_stream()]
    ends = [await accepted(postgres_log, command(stream_id)) for stream_id in streams]
    quick, thorough = (
        [linked(replace(after(stream_id, end), **change))] for stream_id, end in zip(streams, ends, strict=True)
    )
    async with await open_writer(database_dsn, Limits()) as pool, flusher_over(pool) as flusher:
        await flusher._connect()
        assert only_advances(quick)
        told = [(await flusher._advanced(quick))[0], (await flusher._appended(thorough))[0]]
    assert await rows_of(postgres_log, streams[0]) == await rows_of(postgres_log, streams[1])
    for stream_id, outcome in zip(streams, told, strict=True):
        assert isinstance(outcome, Appended)
        stored = await postgres_log.read_stream(stream_id, ends[0].version)
        assert [(one.position, one.hash) for one in outcome.events] == [(one.position, one.hash) for one in stored]
        head = await postgres_log.head(stream_id)
        assert head == Head(stream_id, outcome.version, outcome.hash, head.summary if head else b"")


@pytest.mark.parametrize("spoiler", ["stale", "early", "late", "accepted before", "unknown stream"])
async def test_one_that_cannot_keeps_all_from_being_written(
    postgres_log: PostgresLog, database_dsn: str, spoiler: str
) -> None:
    """The quick way writes a whole flush or nothing of it; the other then settles each command by itself."""
    streams = [new_stream(), new_stream()]
    ends = [await accepted(postgres_log, command(stream_id)) for stream_id in streams]
    used = command(new_stream(), request_id=f"used-{streams[0]}")
    await accepted(postgres_log, used)
    now = await postgres_log.clock()
    good, bad = (after(stream_id, end) for stream_id, end in zip(streams, ends, strict=True))
    spoilt = {
        "stale": replace(bad, expected_hash=bytes(32)),
        "early": replace(bad, not_before=now + timedelta(hours=1)),
        "late": replace(bad, not_after=now - timedelta(hours=1)),
        "accepted before": replace(bad, request_id=used.request_id),
        "unknown stream": replace(bad, stream_id=new_stream()),
    }[spoiler]
    batch = [linked(good), linked(spoilt)]
    async with await open_writer(database_dsn, Limits()) as pool, flusher_over(pool) as flusher:
        await flusher._connect()
        assert only_advances(batch)
        assert await flusher._advanced(batch) == ()
        assert [len(await postgres_log.read_stream(stream_id)) for stream_id in streams] == [1, 1]
        first, second = await flusher(batch)
    assert isinstance(first, Appended)
    assert not isinstance(second, Appended)


def test_what_goes_the_thorough_way() -> None:
    """A stream's first events, names, and a timer taken away."""
    stream_id, name = new_stream(), ClaimName("somebody")
    moved = command(stream_id, 1, bytes(32))
    others = [
        command(stream_id),
        replace(moved, due_at=None),
        replace(moved, claims=(name,)),
        replace(moved, releases=(name,)),
        replace(moved, unclaimed=(name,)),
    ]
    assert only_advances([linked(moved)])
    assert not any(only_advances([linked(moved), linked(other)]) for other in others)
