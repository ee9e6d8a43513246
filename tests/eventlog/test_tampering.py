"""What somebody with every right on the database changes behind the log's back, and verification finds."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from baohuang.eventlog import chain
from baohuang.eventlog.chain import ChainBroken, Flaw
from baohuang.eventlog.port import Appended, NewEvent, StreamId
from baohuang.eventlog.postgres.log import PostgresLog
from eventlog.commands import after, command, grow, new_stream

SECRET = NewEvent("CardsPlayed", b'{"hidden":{"cards":["H3","D3"]},"seat":3}')


@pytest.fixture
async def tampering(database_dsn: str) -> AsyncIterator[asyncpg.Connection]:
    """Give a superuser's session in which no trigger fires."""
    connection = await asyncpg.connect(database_dsn)
    await connection.execute("set session_replication_role = replica")
    yield connection
    await connection.close()


@pytest.fixture
async def stream(postgres_log: PostgresLog) -> StreamId:
    """Give a stream of six events with something hidden in the fourth."""
    stream_id = new_stream()
    end: object = await grow(postgres_log, stream_id, 3)
    for event in (SECRET, SECRET, SECRET):
        assert isinstance(end, Appended)
        end = await postgres_log.append(after(stream_id, end, event))
    return stream_id


async def verify(log: PostgresLog, stream_id: StreamId) -> None:
    """Verify a stream from its start to its head."""
    tip = chain.verify(chain.start(stream_id), await log.read_stream(stream_id))
    chain.verify_end(tip, await log.head(stream_id))


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("""data = jsonb_set(data, '{seat}', '4') where version = 2""", (Flaw.WRONG_HASH, 2)),
        ("""data = data || '{"more":1}' where version = 1""", (Flaw.WRONG_HASH, 1)),
        ("""data = data - 'hidden' where version = 4""", (Flaw.WRONG_HASH, 4)),
        ("""data = jsonb_set(data, '{hidden,cards}', '["D3","H3"]') where version = 4""", (Flaw.WRONG_HASH, 4)),
        ("""data = data || '{"hidden":null}' where version = 4""", (Flaw.WRONG_HASH, 4)),
        ("""data = data || '{"seat":3.5}' where version = 4""", (Flaw.WRONG_HASH, 4)),
        ("""data = '[]' where version = 4""", (Flaw.WRONG_HASH, 4)),
        ("""type = 'Passed' where version = 3""", (Flaw.WRONG_HASH, 3)),
        ("""actor = 'li' where version = 3""", (Flaw.WRONG_HASH, 3)),
        ("""request_id = 'other' where version = 3""", (Flaw.WRONG_HASH, 3)),
        ("""recorded_at = recorded_at + interval '1 microsecond' where version = 3""", (Flaw.WRONG_HASH, 3)),
        ("""salt = decode(repeat('ab', 16), 'hex') where version = 3""", (Flaw.WRONG_HASH, 3)),
        ("""hash = decode(repeat('ab', 32), 'hex') where version = 3""", (Flaw.WRONG_HASH, 3)),
        ("""hash = decode(repeat('ab', 32), 'hex') where version = 6""", (Flaw.WRONG_HASH, 6)),
        ("""version = 8 where version = 6""", (Flaw.OUT_OF_SEQUENCE, 6)),
    ],
)
async def test_a_changed_event(
    postgres_log: PostgresLog, tampering: asyncpg.Connection, stream: StreamId, change: str, found: tuple[Flaw, int]
) -> None:
    """Whatever is changed in an event, verification names the version."""
    await verify(postgres_log, stream)
    await tampering.execute(f"update eventlog.events set {change} and stream_id = $1", stream)  # noqa: S608 (ours)
    with pytest.raises(ChainBroken) as caught:
        await verify(postgres_log, stream)
    assert (caught.value.flaw, caught.value.version) == found
    assert caught.value.stream_id == stream


@pytest.mark.parametrize(
    ("removed", "found"),
    [(1, (Flaw.OUT_OF_SEQUENCE, 1)), (4, (Flaw.OUT_OF_SEQUENCE, 4)), (6, (Flaw.WRONG_HEAD, 5))],
)
async def test_a_removed_event(
    postgres_log: PostgresLog, tampering: asyncpg.Connection, stream: StreamId, removed: int, found: tuple[Flaw, int]
) -> None:
    """An event missing at the start, in the middle or at the end is missed."""
    await tampering.execute("delete from eventlog.events where stream_id = $1 and version = $2", stream, removed)
    with pytest.raises(ChainBroken) as caught:
        await verify(postgres_log, stream)
    assert (caught.value.flaw, caught.value.version) == found


async def test_a_removed_event_with_the_rest_moved_up(
    postgres_log: PostgresLog, tampering: asyncpg.Connection, stream: StreamId
) -> None:
    """Closing the gap does not help: the next event's hash is over another predecessor."""
    await tampering.execute("delete from eventlog.events where stream_id = $1 and version = 3", stream)
    for version in (4, 5, 6):
        await tampering.execute(
            "update eventlog.events set version = version - 1 where stream_id = $1 and version = $2", stream, version
        )
    with pytest.raises(ChainBroken) as caught:
        await verify(postgres_log, stream)
    assert (caught.value.flaw, caught.value.version) == (Flaw.WRONG_HASH, 3)


async def test_swapped_events(postgres_log: PostgresLog, tampering: asyncpg.Connection, stream: StreamId) -> None:
    """Two events that changed places are both in the wrong one."""
    for old, new in ((2, 99), (5, 2), (99, 5)):
        await tampering.execute(
            "update eventlog.events set version = $3 where stream_id = $1 and version = $2", stream, old, new
        )
    with pytest.raises(ChainBroken) as caught:
        await verify(postgres_log, stream)
    assert (caught.value.flaw, caught.value.version) == (Flaw.WRONG_HASH, 2)


async def test_an_added_event(postgres_log: PostgresLog, tampering: asyncpg.Connection, stream: StreamId) -> None:
    """An event added at the end, properly chained, is more than the head knows."""
    head = await postgres_log.head(stream)
    assert head is not None
    (forged,) = chain.link(command(stream, head.version, head.hash, request_id="forged"), [bytes(16)])
    await tampering.execute(
        """
        insert into eventlog.events
            (position, recorded_at, version, stream_id, type, actor, request_id, data, salt, hash)
        select position + 1000000, recorded_at, 7, stream_id, 'CardsPlayed', 'wei', 'forged',
            convert_from($2, 'UTF8')::jsonb, $3, $4
        from eventlog.events where stream_id = $1 and version = 6
        """,
        stream,
        forged.data,
        forged.salt,
        forged.hash,
    )
    with pytest.raises(ChainBroken) as caught:
        await verify(postgres_log, stream)
    assert (caught.value.flaw, caught.value.version) == (Flaw.WRONG_HEAD, 7)


async def test_a_removed_stream(postgres_log: PostgresLog, tampering: asyncpg.Connection, stream: StreamId) -> None:
    """A stream without its events is not what its head says, nor one without its head what its events say."""
    await tampering.execute("delete from eventlog.events where stream_id = $1", stream)
    with pytest.raises(ChainBroken, match=Flaw.WRONG_HEAD.value):
        await verify(postgres_log, stream)
    other = new_stream()
    await grow(postgres_log, other, 2)
    await tampering.execute("delete from eventlog.heads where stream_id = $1", other)
    with pytest.raises(ChainBroken, match=Flaw.WRONG_HEAD.value):
        await verify(postgres_log, other)
