"""The event log as a source, and what other services may read of it."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from secrets import token_hex

import asyncpg
import pytest

from baohuang.database.migrations import role_script
from baohuang.database.pool import Connection, Identity, Limits, Pool, open_pool
from baohuang.eventlog.port import EventLog, NewEvent
from baohuang.eventlog.postgres.log import PostgresLog, open_log
from baohuang.stream.applying import Applying, Subscription
from baohuang.stream.connection import connect_to
from baohuang.stream.consumer import Consumer
from baohuang.stream.jetstream import JetStream
from baohuang.stream.lease import Lease
from baohuang.stream.log_source import LogSource
from baohuang.stream.port import Message, Number, Order, StreamError, predecessor
from baohuang.stream.public_log import settling_between
from baohuang.stream.rebuilding import Comparison, compare
from baohuang.stream.relay import Relay
from baohuang.stream.schema import consumer_tables
from baohuang.stream.streams import TABLE_STREAM
from baohuang.stream.table_messages import SETTLING, event_of
from baohuang.stream.working import at_work
from eventlog.commands import PLAYED, accepted, after, command, new_stream
from eventlog.processes import start_module
from eventlog.transactions import append_within, open_transaction, waits_for_a_lock
from eventually import eventually
from stream.following import QUICK
from stream.numbers import FAST, stored
from table_service.relaying import LOG_SOURCE

FINISHED = NewEvent("HandFinished", '{"hand":1,"hidden":{"名":"secret"},"places":[1,2],"大":"王","b":2}'.encode())
FINED = NewEvent("PlayerFined", b'{"points":-20}')


@pytest.fixture
async def log(own_database_dsn: str) -> AsyncIterator[PostgresLog]:
    """Give a log that nobody else writes to."""
    async with open_log(own_database_dsn) as opened:
        yield opened


@pytest.fixture
async def log_pool(own_database_dsn: str) -> AsyncIterator[Pool]:
    """Give connections to that log's database as a relay has them."""
    identity = Identity("tests of the stream", "baohuang_app", "eventlog")
    async with await open_pool(own_database_dsn, 4, Limits(), identity) as opened:
        yield opened


@pytest.fixture
async def reader(own_database_dsn: str) -> AsyncIterator[Pool]:
    """Give connections as another service has them: a schema of its own, and the right to read the public view."""
    role = f"reader_{token_hex(6)}"
    admin = await asyncpg.connect(own_database_dsn)
    await admin.execute(role_script(role))
    await admin.execute(f"grant baohuang_log_reader to {role}")
    await admin.execute(f"create schema reading authorization {role}")
    await admin.execute("set search_path to reading")
    await admin.execute(consumer_tables(role))
    async with await open_pool(own_database_dsn, 4, Limits(), Identity("a reader", role, "reading")) as opened:
        yield opened
    await admin.execute(f"drop owned by {role} cascade")
    await admin.execute(f"drop role {role}")
    await admin.close()


async def write(log: EventLog, count: int) -> None:
    """Write a table's stream event by event, every fifth of which is the end of a hand or a fine."""
    stream_id = new_stream()
    end = await accepted(log, command(stream_id))
    for place in range(1, count):
        event = (PLAYED, PLAYED, FINISHED, PLAYED, FINED)[place % 5]
        end = await accepted(log, after(stream_id, end, event))


async def test_a_source_reads_the_log_without_holes_while_it_is_written(log: PostgresLog, log_pool: Pool) -> None:
    """Eight tables are written at once while it is read on and on: 1, 2, 3, …, each as it was committed."""
    source = LogSource(log_pool)
    read: list[Message] = []
    writing = asyncio.gather(*(write(log, 15) for _ in range(8)))
    while len(read) < 120:
        read += await source.read(read[-1].number if read else Number(0), 7)
        await asyncio.sleep(0)
    await writing
    assert [message.number for message in read] == list(range(1, 121))
    kept = await log.read_all()
    assert [message.hash for message in read] == [event.hash.hex() for event in kept]
    assert [event_of(message).stream_id for message in read] == [event.stream_id for event in kept]


async def test_a_position_held_open_holds_the_source_up(
    own_database_dsn: str, log: PostgresLog, log_pool: Pool
) -> None:
    """A position is taken and held; others wait behind it; nothing is skipped when it is committed."""
    source = LogSource(log_pool)
    async with open_transaction(own_database_dsn) as somebody:
        await append_within(somebody, command(new_stream()))
        later = asyncio.create_task(accepted(log, command(new_stream())))
        await eventually(lambda: waits_for_a_lock(somebody))
        assert await source.read(Number(0), 10) == []
        await somebody.execute("commit")
        await later
    assert [message.number for message in await source.read(Number(0), 10)] == [1, 2]


async def test_the_kinds_that_settle_are_chained_wherever_one_begins(log: PostgresLog, log_pool: Pool) -> None:
    """Each names the last one before it, whatever is read in one piece; so a refilled stream says the same."""
    await asyncio.gather(*(write(log, 10) for _ in range(3)))
    source = LogSource(log_pool)
    whole = await source.read(Number(0), 100)
    settling = [message for message in whole if event_of(message).type in SETTLING]
    assert len(settling) == 12
    before = [0, *(message.number for message in settling)]
    assert [predecessor(message, Order.CHAINED) for message in settling] == before[:-1]
    assert all(predecessor(message, Order.CHAINED) is None for message in whole if message not in settling)
    assert [(await source.read(Number(n), 1))[0] for n in range(30)] == whole


async def test_the_public_view_tells_what_the_stream_tells(log: PostgresLog, log_pool: Pool, reader: Pool) -> None:
    """The same messages of the kinds that settle, to the byte, but for the digest of what is hidden."""
    await asyncio.gather(*(write(log, 10) for _ in range(3)))
    streamed = [one for one in await LogSource(log_pool).read(Number(0), 100) if one.headers.keys() >= {_PRECEDED_BY}]
    async with reader.acquire() as connection:
        filled = await settling_between(connection, Number(0), Number(1000), 1000)
        middle = await settling_between(connection, streamed[3].number, streamed[6].number, 2)
    assert [_undigested(message) for message in streamed] == list(filled)
    assert list(middle) == list(filled)[4:6]


_PRECEDED_BY = "Baohuang-Preceded-By"


def _undigested(message: Message) -> Message:
    body = json.loads(message.body)
    del body["hiddenDigest"]
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return Message(message.number, message.subject, text.encode(), message.headers)


async def test_the_public_view_is_all_that_others_may_read(log: PostgresLog, reader: Pool) -> None:
    """No key "hidden", no salt, no request id, no other table of the log, and nothing can be written."""
    await write(log, 3)
    rows = await reader.fetch("select * from eventlog_public.events order by position")
    assert set(rows[0].keys()) == {"position", "stream_id", "version", "type", "data", "actor", "recorded_at", "hash"}
    assert [json.loads(row["data"]).keys() & {"hidden"} for row in rows] == [set()] * 3
    for forbidden in (
        "select * from eventlog.events",
        "select * from eventlog.requests",
        "select * from eventlog.relays",
        "delete from eventlog_public.events",
        "update eventlog_public.events set actor = 'me'",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await reader.execute(forbidden)


async def test_from_the_log_to_another_service(log: PostgresLog, log_pool: Pool, reader: Pool, nats_url: str) -> None:
    """Two relays, two replicas of a filtered consumer, while tables are written.

    The stream is the log; each hand and each fine was applied once, in the log's order.
    """
    applied: list[int] = []

    async def apply(connection: Connection, messages: Sequence[Message]) -> None:
        applied.extend(event_of(message).position for message in messages)

    source = LogSource(log_pool)
    relays = [Relay(source, TABLE_STREAM, Lease(log_pool, "log"), connect_to(nats_url, "relay"), FAST) for _ in "ab"]
    settling = Subscription(TABLE_STREAM, "settling", SETTLING, Order.CHAINED)
    consumers = [
        Consumer(Applying(reader, settling, apply, settling_between), connect_to(nats_url, "consumer"), QUICK)
        for _ in "ab"
    ]
    async with at_work(*relays, *consumers):
        await asyncio.gather(*(write(log, 20) for _ in range(6)))
        settled = [event.position for event in await log.read_all() if event.type in SETTLING]

        async def all_applied() -> bool:
            return len(applied) >= len(settled)

        await eventually(all_applied)
    assert applied == settled
    whole = await source.read(Number(0), 1000)
    assert [(n, subject, body) for n, subject, body, _ in await stored(nats_url, TABLE_STREAM)] == [
        (one.number, one.subject, one.body) for one in whole
    ]


async def test_a_relay_killed_in_the_middle_of_its_work(
    own_database_dsn: str, log: PostgresLog, log_pool: Pool, nats_url: str
) -> None:
    """Kill -9 of the process that publishes, while tables are written: another goes on, and the stream is the log."""
    writing = asyncio.gather(*(write(log, 60) for _ in range(6)))
    killed = await start_module("stream.relaying_process", own_database_dsn, nats_url, "3")
    await eventually(lambda: _reached(nats_url, 30), within=60)
    killed.kill()
    await killed.communicate()
    source, connect = LogSource(log_pool), connect_to(nats_url, "relay")
    async with at_work(Relay(source, TABLE_STREAM, Lease(log_pool, LOG_SOURCE), connect, FAST)):
        await writing
        await eventually(lambda: _reached(nats_url, 360))
    assert await compare(source, TABLE_STREAM, connect) == Comparison(Number(360), Number(360), None)


async def _reached(url: str, last: int) -> bool:
    try:
        async with connect_to(url, "looking")() as client:
            return (await JetStream(client, TABLE_STREAM).end()).number >= last
    except StreamError:
        return False
