"""Table services publish what happens at their tables, and serve whatever becomes of NATS."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc

from baohuang.database.pool import Limits, open_pool
from baohuang.embedded.nats import EmbeddedNats
from baohuang.eventlog.postgres.log import PostgresLog, open_log
from baohuang.rpc.server import RpcServer
from baohuang.stream.connection import connect_to
from baohuang.stream.jetstream import JetStream
from baohuang.stream.log_source import LogSource
from baohuang.stream.port import Number, StreamError
from baohuang.stream.streams import TABLE_STREAM
from bench.random_player import chance_of
from eventually import eventually
from stream.numbers import stored
from table_service.relaying import RELAY_IDENTITY
from table_service.settings import TableSettings
from table_service.wiring import SERVICES, wired
from tables.clients import Client, open_table
from tables.games import PLAYERS, Game


@asynccontextmanager
async def serving(dsn: str, nats_url: str) -> AsyncIterator[grpc.aio.Channel]:
    """Run one replica of the service as its `main` does, and give a channel to it."""
    settings = TableSettings.model_validate(
        {"postgres_dsn": dsn, "nats_url": nats_url, "insecure_dev": True, "dev_seed": 7, "drain_grace_seconds": 0.5}
    )
    server = RpcServer(settings, settings.table_listen)
    async with wired(server, settings):
        port = await server.start(*SERVICES)
        try:
            async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
                yield channel
        finally:
            await server.drain()


async def published(log: PostgresLog, url: str) -> bool:
    """Tell whether the stream ends where the log does."""
    last = len(await log.read_all(limit=100_000))
    try:
        async with connect_to(url, "looking")() as client:
            return (await JetStream(client, TABLE_STREAM).end()).number == last
    except StreamError:
        return False


async def test_a_hand_is_published_while_nats_comes_and_goes(own_database_dsn: str, nats_server: EmbeddedNats) -> None:
    """Two replicas serve a hand, and NATS is restarted in the middle: no move waits for it, and all is published."""
    url = await nats_server.start()
    chance = chance_of("published")
    async with (
        serving(own_database_dsn, url) as one,
        serving(own_database_dsn, url) as other,
        open_log(own_database_dsn) as log,
    ):
        clients = [Client((one, other)[seat % 2], player) for seat, player in enumerate(PLAYERS)]
        game = Game(log, (await clients[0].call(open_table("ourgame-simple"))).table_id, clients)
        await game.seat_all()
        await eventually(lambda: published(log, url))
        await nats_server.stop()
        await game.all_ready()
        for _ in range(20):
            await game.step(chance)
        await nats_server.start()
        await game.play(chance)
        await eventually(lambda: published(log, url))
    async with await open_pool(own_database_dsn, 1, Limits(), RELAY_IDENTITY) as pool:
        wanted = await LogSource(pool).read(Number(0), 100_000)
    assert [(n, body) for n, _, body, _ in await stored(url, TABLE_STREAM)] == [
        (one.number, one.body) for one in wanted
    ]
    assert {one.subject.rpartition(".")[2] for one in wanted} > {"TableOpened", "HandFinished"}
