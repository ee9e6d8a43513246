"""What the matchmaking service is made of, put together in one place."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from types import MappingProxyType
from typing import Final

import grpc

from baohuang.database.flush_counts import read_flushes
from baohuang.database.pool import Identity, Limits, Pool, open_pool
from baohuang.database.release import check_schema
from baohuang.gen.matchmaking.v1 import matchmaking_service_pb2, matchmaking_service_pb2_grpc
from baohuang.rpc.auth import PLAYER_KEY, ROLE_KEY, Role
from baohuang.rpc.credentials import BearerToken, Metadata
from baohuang.rpc.server import RpcServer
from baohuang.rpc.service_token import read_service_token
from baohuang.stream.working import at_work
from baohuang.tls.channel import open_channel
from baohuang.tls.files import Tls
from matchmaking_service.counts import read_matches
from matchmaking_service.creating import creating
from matchmaking_service.desk import Desk
from matchmaking_service.forming import Forming, Pace
from matchmaking_service.matches import Matches
from matchmaking_service.matchmaking_servicer import MatchmakingServicer
from matchmaking_service.noting import noting
from matchmaking_service.opening import Tables
from matchmaking_service.purging import Purging
from matchmaking_service.ratings import NoRatings, Ratings, RatingsByCall
from matchmaking_service.reading import Tickets
from matchmaking_service.schema import ROLE, SCHEMA
from matchmaking_service.seating import Opener, Seating
from matchmaking_service.settings import MatchmakingSettings
from matchmaking_service.watching import Watching

SERVICES: Final = (matchmaking_service_pb2.DESCRIPTOR.services_by_name["MatchmakingService"].full_name,)
_CONNECTIONS: Final = 8
_PATIENCE: Final = Limits(lock_ms=4_000)
"""A hundred calls of one impatient player wait for each other as a matter of course."""
_PLANNED_ONCE: Final = MappingProxyType(
    {
        "plan_cache_mode": "force_generic_plan",
        "enable_seqscan": "off",
        "enable_bitmapscan": "off",
        "enable_mergejoin": "off",
    }
)
"""Plans are made from the first call on perhaps empty queues, and have to serve full ones: over the indexes."""
_WORD: Final[Metadata] = ((PLAYER_KEY, "matchmaking"), (ROLE_KEY, Role.SERVICE))
_CHANNEL: Final = (
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 500),
    ("grpc.max_reconnect_backoff_ms", 1_000),
)
"""A service that is back is found within a second."""


@asynccontextmanager
async def wired(server: RpcServer, settings: MatchmakingSettings) -> AsyncIterator[None]:
    """Open what the servicer needs, register it on the server, and make matches for as long as the block lasts.

    Raises OSError, asyncpg.PostgresError, CertificateError, SchemaMismatchError.
    """
    dsn = settings.postgres_dsn.get_secret_value()
    await check_schema(dsn, SCHEMA)
    metadata = _metadata(settings)
    server.metrics.add(partial(read_service_token, settings.service_token))
    pace = Pace(settings.ticket_lifetime_seconds, settings.fill_with_bots_after, kept=settings.keep_seconds)
    async with AsyncExitStack() as opened:
        pool = await opened.enter_async_context(await open_tickets(dsn))
        tables = await opened.enter_async_context(channel_to(settings.table_address, settings.client_tls))
        ratings: Ratings = NoRatings()
        if settings.rating_address is not None:
            rating = await opened.enter_async_context(channel_to(settings.rating_address, settings.client_tls))
            ratings = RatingsByCall(rating, metadata)
        await opened.enter_async_context(serving(server, pool, Tables(tables, metadata), ratings, pace))
        yield


@asynccontextmanager
async def serving(
    server: RpcServer, pool: Pool, opener: Opener, ratings: Ratings, pace: Pace
) -> AsyncIterator[Watching]:
    """Register the servicer on the server, and make matches for as long as the block lasts."""
    tickets = Tickets(pool)
    watching = Watching(tickets, pace.poll, server.stream_age_seconds)
    server.when_draining(watching.drain)
    matches = Matches(pool)
    async with creating(pool) as making, noting(pool, watching.changed) as noted:
        seating = Seating(matches, opener, noted, pace.poll, watching.changed, bugs=server.bugs)
        forming = Forming(matches, ratings, pace, seating.take, watching.changed)
        servicer = MatchmakingServicer(Desk(pool, making, tickets), watching, forming.poke)
        matchmaking_service_pb2_grpc.add_MatchmakingServiceServicer_to_server(servicer, server.grpc)
        for flushing in (making, noted):
            server.metrics.add(partial(read_flushes, flushing))
        server.metrics.add(partial(read_matches, forming.counts, seating.counts))
        # Seating ends after forming: it gives up what was formed last.
        others = (seating, watching, Purging(pool, pace.kept, pace.purge))
        async with at_work(*others, bugs=server.bugs), at_work(forming, bugs=server.bugs):
            yield watching


def channel_to(address: str, tls: Tls | None = None) -> grpc.aio.Channel:
    """Open a channel to another service. Raises CertificateError."""
    return open_channel(address, tls, _CHANNEL)


async def open_tickets(dsn: str) -> Pool:
    """Open a pool on the tickets. Raises OSError, asyncpg.PostgresError."""
    identity = Identity("baohuang matchmaking", ROLE, SCHEMA.name, _PLANNED_ONCE)
    return await open_pool(dsn, _CONNECTIONS, _PATIENCE, identity)


def _metadata(settings: MatchmakingSettings) -> Metadata:
    token = settings.service_token
    return BearerToken(token.get_secret_value()).metadata() if token else _WORD
