"""What the scoring service is made of, put together in one place."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

from baohuang.database.pool import Identity, Limits, Pool, open_pool
from baohuang.database.release import check_schema
from baohuang.gen.scoring.v1 import scoring_service_pb2, scoring_service_pb2_grpc
from baohuang.metrics.bugs import Bugs
from baohuang.metrics.family import Metrics
from baohuang.rpc.reading import Reader
from baohuang.rpc.server import RpcServer
from baohuang.stream.applying import Applying, Subscription
from baohuang.stream.connection import Connect, connect_to
from baohuang.stream.consumer import Consumer
from baohuang.stream.counts import read_consumer, read_relay
from baohuang.stream.lease import Lease
from baohuang.stream.port import Order
from baohuang.stream.public_log import settling_between
from baohuang.stream.relay import Relay
from baohuang.stream.streams import SCORING_STREAM, TABLE_STREAM
from baohuang.stream.table_messages import SETTLING
from baohuang.stream.unsettled import Unsettled
from baohuang.stream.working import at_work
from baohuang.tls.counts import read_certificates
from scoring_service.ledger_source import LedgerSource
from scoring_service.queries import query
from scoring_service.schema import ROLE, SCHEMA
from scoring_service.scoring import score
from scoring_service.scoring_servicer import ScoringServicer
from scoring_service.settings import ScoringSettings
from scoring_service.statements import Statements

SERVICES: Final = (scoring_service_pb2.DESCRIPTOR.services_by_name["ScoringService"].full_name,)
SUBSCRIPTION: Final = Subscription(TABLE_STREAM, "scoring", SETTLING, Order.CHAINED, effect="post to ledger")
_SET_ASIDE: Final = query("set_aside_count")
_CONNECTIONS: Final = 6
_PATIENCE: Final = Limits(lock_ms=4_000)
"""Replicas take turns at batches of messages, so each waits for the others as a matter of course."""


@asynccontextmanager
async def wired(server: RpcServer, settings: ScoringSettings) -> AsyncIterator[None]:
    """Open what the servicer needs, register it on the server, and follow the log where NATS is known.

    Raises OSError, asyncpg.PostgresError, CertificateError, SchemaMismatchError.
    """
    dsn = settings.postgres_dsn.get_secret_value()
    await check_schema(dsn, SCHEMA)
    async with await open_ledger(dsn) as pool:
        register(server, pool)
        if settings.nats is None:
            yield
            return
        server.metrics.add(partial(read_certificates, {"nats": settings.nats.tls}))
        connect = connect_to(settings.nats, "baohuang scoring")
        async with following(pool, connect, settings.stream_servers, server.metrics, server.bugs):
            yield


def register(server: RpcServer, pool: Pool) -> None:
    """Register the servicer on the server."""
    servicer = ScoringServicer(Statements(Reader(pool)))
    scoring_service_pb2_grpc.add_ScoringServiceServicer_to_server(servicer, server.grpc)


async def open_ledger(dsn: str, schema: str = SCHEMA.name) -> Pool:
    """Open a pool on the ledger. Raises OSError, asyncpg.PostgresError."""
    identity = Identity("baohuang scoring", ROLE, schema)
    return await open_pool(dsn, _CONNECTIONS, _PATIENCE, identity)


@asynccontextmanager
async def following(
    pool: Pool, connect: Connect, servers: int = 1, metrics: Metrics | None = None, bugs: Bugs | None = None
) -> AsyncIterator[None]:
    """Score what the stream of the log brings and publish the ledger, for as long as the block lasts.

    `servers` of NATS keep the ledger's stream, where it is not there yet.
    """
    stream = SCORING_STREAM.kept_by(servers)
    relay = Relay(LedgerSource(pool), stream, Lease(pool, stream.name), connect)
    scoring = partial(score, note_trace=relay.traces.put)
    consumer = Consumer(Applying(pool, SUBSCRIPTION, scoring, settling_between, relay.poke), connect)
    if metrics is not None:
        metrics.add(partial(read_consumer, SUBSCRIPTION.consumer, consumer.counts))
        metrics.add(partial(read_relay, SCORING_STREAM.name, relay.counts))
    unsettled = Unsettled(pool, SUBSCRIPTION.consumer, consumer.counts, _SET_ASIDE)
    async with at_work(consumer, relay, unsettled, bugs=bugs):
        yield
