"""What the page's table of disasters says, of those that no test of a service shows: a replica hangs, NATS is full."""

import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import grpc
import pytest
from structlog.testing import capture_logs

from baohuang.database.pool import Limits, open_pool
from baohuang.embedded.nats import EmbeddedNats
from baohuang.eventlog.codec import decode
from baohuang.eventlog.port import StreamId
from baohuang.eventlog.postgres.log import PostgresLog, open_log
from baohuang.gen.rules.v1 import ruleset_pb2
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.rules.events import TrusteeshipEntered
from baohuang.stream.connection import connect_to
from baohuang.stream.lease import Lease
from baohuang.stream.log_source import LogSource
from baohuang.stream.port import StreamError
from baohuang.stream.rebuilding import compare
from baohuang.stream.relay import Relay
from baohuang.stream.streams import TABLE_STREAM
from baohuang.stream.working import at_work
from command_line.service_process import ServiceProcess
from command_line.services import TABLE
from eventlog.commands import grow, new_stream
from eventually import eventually
from nats_servers import nats_with
from stream.numbers import FAST
from table_service.relaying import LOG_SOURCE, RELAY_IDENTITY
from tables.clients import Client, open_table, ready, sit
from tables.games import PLAYERS

TURN_SECONDS = 6
SOON = 60.0


@pytest.fixture
async def log(own_database_dsn: str) -> AsyncIterator[PostgresLog]:
    """Give the log under the replicas."""
    async with open_log(own_database_dsn) as opened:
        yield opened


async def test_a_replica_hangs_with_its_leases(own_database_dsn: str, log: PostgresLog, tmp_path: Path) -> None:
    """The replica that publishes the log, and knows a table, is stopped (SIGSTOP) in the middle of a turn.

    The other publishes in its place and expires the turn. When the first goes on it does nothing twice, neither to the
    turn nor to the stream, and serves what happened without it.
    """
    nats = EmbeddedNats(tmp_path)
    url = await nats.start()
    told = {"BAOHUANG_POSTGRES_DSN": own_database_dsn, "BAOHUANG_NATS_URL": url, "BAOHUANG_INSECURE_DEV": "true"}
    named = [replace(TABLE, name=f"table-{number}") for number in (1, 2)]
    first, other = (ServiceProcess(service, tmp_path, told) for service in named)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(nats.destroy)
        for replica in (first, other):
            stack.push_async_callback(replica.stop)
            await replica.start()
            await eventually(lambda: is_streamed(own_database_dsn, url), SOON)
        table_id = await hand_begun(first.address)
        first.child.send(signal.SIGSTOP)
        try:
            await eventually(lambda: is_expired(log, table_id), SOON)
            await eventually(lambda: is_streamed(own_database_dsn, url), SOON)
        finally:
            first.child.send(signal.SIGCONT)
        head = await log.head(StreamId(table_id))
        assert head is not None
        async with grpc.aio.insecure_channel(first.address) as channel:
            seen = await Client(channel, PLAYERS[0]).call(pb.GetTableRequest(table_id=table_id))
        assert seen.table.version >= head.version
        assert len(set(await expiries(log, table_id))) == len(await expiries(log, table_id))
        await eventually(lambda: is_streamed(own_database_dsn, url), SOON)


async def hand_begun(address: str) -> str:
    """Have five players begin a hand with short turns, and give their table."""
    async with grpc.aio.insecure_channel(address) as channel:
        clients = [Client(channel, player) for player in PLAYERS]
        opening = open_table()
        opening.options.CopyFrom(ruleset_pb2.Options(turn_seconds=TURN_SECONDS))
        table_id = str((await clients[0].call(opening)).table_id)
        for seat, client in enumerate(clients):
            await client.call(sit(table_id, seat))
        for client in clients:
            await client.call(ready(table_id))
        return table_id


async def expiries(log: PostgresLog, table_id: str) -> Sequence[str]:
    """Return the deadlines of the turns that were ended by trusteeship."""
    stored = await log.read_stream(StreamId(table_id), limit=10_000)
    events = [decode(one.type, one.data) for one in stored]
    return [event.due_at for event in events if isinstance(event, TrusteeshipEntered)]


async def is_expired(log: PostgresLog, table_id: str) -> bool:
    return bool(await expiries(log, table_id))


async def is_streamed(dsn: str, url: str) -> bool:
    """Tell whether the log's stream is the log, message by message."""
    async with await open_pool(dsn, 1, Limits(), RELAY_IDENTITY) as pool:
        try:
            return (await compare(LogSource(pool), TABLE_STREAM, connect_to(url, "looking"))).equal
        except StreamError:
            return False


@asynccontextmanager
async def nats_of(folder: Path, most: str) -> AsyncIterator[str]:
    """Run a nats-server whose disk, as far as JetStream may use it, is that large."""
    async with nats_with(folder, f'jetstream {{ store_dir: "{folder}/store", max_file_store: {most} }}') as (_, port):
        yield f"nats://127.0.0.1:{port}"


async def test_the_disk_of_nats_is_full(own_database_dsn: str, log: PostgresLog, tmp_path: Path) -> None:
    """The relay says so and waits, while the log is written on; with room again the stream is the log, whole."""
    async with await open_pool(own_database_dsn, 2, Limits(), RELAY_IDENTITY) as pool:
        async with nats_of(tmp_path, "100KB") as url:
            relay = Relay(LogSource(pool), TABLE_STREAM, Lease(pool, LOG_SOURCE, 1.0), connect_to(url, "relay"), FAST)
            with capture_logs() as lines:
                async with at_work(relay):
                    for _ in range(8):
                        await grow(log, new_stream(), 60)
                    await eventually(lambda: has_failed(relay), SOON)
                    await grow(log, new_stream(), 1)
            assert any("insufficient resources" in str(line.get("error")) for line in lines), lines
            assert not await is_streamed(own_database_dsn, url)
        async with nats_of(tmp_path, "100MB") as url:
            relay = Relay(LogSource(pool), TABLE_STREAM, Lease(pool, LOG_SOURCE, 1.0), connect_to(url, "relay"), FAST)
            async with at_work(relay):
                await eventually(lambda: is_streamed(own_database_dsn, url), SOON)


async def has_failed(relay: Relay) -> bool:
    return relay.counts.failures > 3
