"""Ten thousand requests that nobody would send, to the services of points and of ratings: they only ever read."""

import math
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import asyncpg
import grpc
import pytest
from structlog.testing import capture_logs

from baohuang.rpc.paging import token_of
from baohuang.rpc.server import RpcServer
from baohuang.stream.port import NO_NUMBER
from bench.random_player import chance_of
from rating.following import Ratings
from rating_service import wiring as rating_wiring
from scoring.following import MANY, Ledger
from scoring.hands import PLAYERS
from scoring.recording import TABLES, Recorder
from scoring.serving import channel_to
from scoring_service import wiring as scoring_wiring
from scoring_service.ledger_source import LedgerSource
from tables.fuzzing import fire_all, methods_of
from tables.messages import AnyMessage
from tables.shooting import Shooting, check

REQUESTS = 5_000
"""Of each service."""
BATCH = 125
LIKELY = {
    "player": PLAYERS,
    "account": ("house", *(f"player:{player}" for player in PLAYERS), "player:", "House"),
    "season": ("", "2026Q4", "2027Q1", "2026Q5", "0000Q1", "99999Q1"),
    "page_token": (
        "", "", token_of("7", "2"), token_of("7"), token_of("2026Q4", (1.5).hex(), PLAYERS[0]), token_of("a", "b"),
        token_of("2026Q4", "inf", "x"), token_of("-1", "0"), token_of("9" * 10, "0"), token_of("2026Q4", "nan", "x"),
    ),
}  # fmt: skip
"""Texts that are sound, or nearly."""
Serve = Callable[[Ledger, Ratings], AbstractAsyncContextManager[grpc.aio.Channel]]


@asynccontextmanager
async def scoring(ledger: Ledger, _: Ratings) -> AsyncIterator[grpc.aio.Channel]:
    """Serve points."""

    def register(server: RpcServer) -> None:
        scoring_wiring.register(server, ledger.pool)

    async with channel_to(register, *scoring_wiring.SERVICES, rate_limit_per_second=math.inf) as channel:
        yield channel


@asynccontextmanager
async def rating(_: Ledger, ratings: Ratings) -> AsyncIterator[grpc.aio.Channel]:
    """Serve ratings."""

    def register(server: RpcServer) -> None:
        rating_wiring.register(server, ratings.pool)

    async with channel_to(register, *rating_wiring.SERVICES, rate_limit_per_second=math.inf) as channel:
        yield channel


async def everything(dsn: str) -> dict[str, str]:
    """Return digests of all that is stored of points and ratings, and of the log, by table."""
    admin = await asyncpg.connect(dsn)
    names = await admin.fetch(
        "select format('%I.%I', schemaname, tablename) as name from pg_tables"
        " where schemaname in ('scoring', 'rating', 'eventlog')"
    )
    digest = "select md5(coalesce(string_agg(t::text, ',' order by t::text), '')) from {} as t"
    digests = {row["name"]: await admin.fetchval(digest.format(row["name"])) for row in names}
    await admin.close()
    return digests


@pytest.mark.parametrize("serve", [scoring, rating])
async def test_any_request_gets_a_clear_answer(
    recorder: Recorder, ledger: Ledger, own_database_dsn: str, serve: Serve
) -> None:
    """Never INTERNAL, never UNKNOWN, nothing logged as a failure; nothing is changed by any call; the server lives.

    Every method is reached by what is sound and by what is not.
    """
    await recorder.record_some(30)
    await ledger.follow()
    statuses: Counter[tuple[str, grpc.StatusCode]] = Counter()
    dice = chance_of("any request", serve.__name__)
    async with await rating_wiring.open_ratings(own_database_dsn) as pool:
        ratings = Ratings(pool)
        await ratings.replica().take(await LedgerSource(ledger.pool).read(NO_NUMBER, MANY))
        before = await everything(own_database_dsn)
        assert {"scoring.entries", "rating.changes", "eventlog.events"} < before.keys()
        async with serve(ledger, ratings) as channel:
            methods = await methods_of(channel)
            shooting = Shooting(dice, AnyMessage(dice, TABLES, LIKELY), methods)
            shooting.players = PLAYERS
            with capture_logs() as lines:
                for _ in range(REQUESTS // BATCH):
                    shots = [shooting.shot() for _ in range(BATCH)]
                    for shot, result in zip(shots, await fire_all(channel, shots), strict=True):
                        check(shot, result)
                        statuses[shot.method.name, result.code] += 1
    assert not [line for line in lines if line["log_level"] == "error"]
    assert await everything(own_database_dsn) == before
    for method in methods:
        assert statuses[method.name, grpc.StatusCode.OK], f"{method.name} was never answered"
        assert statuses[method.name, grpc.StatusCode.INVALID_ARGUMENT], f"{method.name} was never malformed"
