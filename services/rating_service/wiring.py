"""What the rating service is made of, put together in one place."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

from baohuang.database.pool import Identity, Limits, Pool, open_pool
from baohuang.database.release import check_schema
from baohuang.gen.rating.v1 import rating_service_pb2, rating_service_pb2_grpc
from baohuang.metrics.bugs import Bugs
from baohuang.metrics.family import Metrics
from baohuang.rpc.reading import Reader
from baohuang.rpc.server import RpcServer
from baohuang.stream.applying import Applying, Subscription
from baohuang.stream.connection import Connect, connect_to
from baohuang.stream.consumer import Consumer
from baohuang.stream.counts import read_consumer
from baohuang.stream.port import Poison
from baohuang.stream.streams import SCORING_STREAM
from baohuang.stream.unsettled import Unsettled
from baohuang.stream.working import at_work
from baohuang.tls.counts import read_certificates
from rating_service.boards import CONSUMER, Boards
from rating_service.rating_servicer import RatingServicer
from rating_service.ratings import rate
from rating_service.schema import ROLE, SCHEMA
from rating_service.settings import RatingSettings

SERVICES: Final = (rating_service_pb2.DESCRIPTOR.services_by_name["RatingService"].full_name,)
SUBSCRIPTION: Final = Subscription(SCORING_STREAM, CONSUMER, poison=Poison.WAIT, effect="rate")
_CONNECTIONS: Final = 6
_PATIENCE: Final = Limits(lock_ms=4_000)
"""Replicas take turns at batches of messages, so each waits for the others as a matter of course."""


@asynccontextmanager
async def wired(server: RpcServer, settings: RatingSettings) -> AsyncIterator[None]:
    """Open what the servicer needs, register it on the server, and follow the ledger where NATS is known.

    Raises OSError, asyncpg.PostgresError, CertificateError, SchemaMismatchError.
    """
    dsn = settings.postgres_dsn.get_secret_value()
    await check_schema(dsn, SCHEMA)
    async with await open_ratings(dsn) as pool:
        register(server, pool)
        if settings.nats is None:
            yield
            return
        server.metrics.add(partial(read_certificates, {"nats": settings.nats.tls}))
        async with following(pool, connect_to(settings.nats, "baohuang rating"), server.metrics, server.bugs):
            yield


def register(server: RpcServer, pool: Pool) -> None:
    """Register the servicer on the server."""
    servicer = RatingServicer(Boards(Reader(pool)))
    rating_service_pb2_grpc.add_RatingServiceServicer_to_server(servicer, server.grpc)


async def open_ratings(dsn: str, schema: str = SCHEMA.name) -> Pool:
    """Open a pool on the ratings. Raises OSError, asyncpg.PostgresError."""
    return await open_pool(dsn, _CONNECTIONS, _PATIENCE, Identity("baohuang rating", ROLE, schema))


@asynccontextmanager
async def following(
    pool: Pool, connect: Connect, metrics: Metrics | None = None, bugs: Bugs | None = None
) -> AsyncIterator[None]:
    """Rate what the stream of the ledger brings, for as long as the block lasts."""
    consumer = Consumer(Applying(pool, SUBSCRIPTION, rate), connect)
    if metrics is not None:
        metrics.add(partial(read_consumer, CONSUMER, consumer.counts))
    async with at_work(consumer, Unsettled(pool, CONSUMER, consumer.counts), bugs=bugs):
        yield
