"""From the table to the leaderboard over a real NATS, in this process and in processes of their own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import asyncpg
import grpc

import rating_service.migrations
import scoring_service.migrations
from baohuang.embedded.nats import EmbeddedNats
from baohuang.eventlog.codec import decode
from baohuang.gen.rating.v1 import rating_service_pb2 as rating_pb
from baohuang.gen.scoring.v1 import scoring_service_pb2 as pb
from baohuang.gen.table.v1 import table_service_pb2 as table_pb
from baohuang.rules.events import HandFinished, PlayerFined
from baohuang.stream.connection import connect_to
from bench.random_player import chance_of
from command_line.service_process import ServiceProcess
from command_line.services import RATING, SCORING, Service
from eventually import eventually
from rating_service import wiring as rating_wiring
from scoring.following import Ledger, balances_of
from scoring.recording import Recorder
from scoring.serving import Caller
from scoring.test_audit import run
from scoring_service import wiring as scoring_wiring
from stream.test_relay import wipe
from table_service.relaying import relaying
from tables.clients import fresh
from tables.games import started
from tables.replicas import replica

SOON = 60.0
"""How long anything may take on a busy machine."""


@asynccontextmanager
async def everything_follows(dsn: str, url: str, replicas: int) -> AsyncIterator[None]:
    """Publish the log, and have so many replicas of scoring and of rating follow, in this process."""
    async with AsyncExitStack() as running:
        await running.enter_async_context(relaying(dsn, url))
        for _ in range(replicas):
            ledger = await running.enter_async_context(await scoring_wiring.open_ledger(dsn))
            await running.enter_async_context(scoring_wiring.following(ledger, connect_to(url, "scoring")))
            ratings = await running.enter_async_context(await rating_wiring.open_ratings(dsn))
            await running.enter_async_context(rating_wiring.following(ratings, connect_to(url, "rating")))
        yield


async def told(dsn: str, question: str, *arguments: object) -> bool:
    """Ask the database."""
    admin = await asyncpg.connect(dsn)
    try:
        return bool(await admin.fetchval(question, *arguments))
    finally:
        await admin.close()


async def all_rated(dsn: str, ledger: Ledger, within: float = SOON) -> None:
    """Wait until the ledger has all of the log, and ratings all of the ledger; then check that they agree."""
    settled = len(await ledger.messages())
    question = (
        "select (select last_number from scoring.progress) = $1"
        " and exists (select from rating.checkpoints where number = $1)"
    )
    await eventually(lambda: told(dsn, question, settled), within)
    for command in (("reconcile",), ("rebuild", "scoring"), ("rebuild", "rating")):
        done = await run(dsn, *command)
        assert (done.exit_code, "no difference" in done.stdout) == (0, True), done.output


async def test_a_hand_and_a_fine_from_the_table_to_the_ratings(
    recorder: Recorder, ledger: Ledger, own_database_dsn: str, url: str
) -> None:
    """What five players played over gRPC, one of whom forfeits, is booked as the table told it, and rated."""
    async with everything_follows(own_database_dsn, url, 1), replica(recorder.log) as serving:
        game = await started(serving, "homy-standard")
        await game.clients[2].call(table_pb.ForfeitSeatRequest(request_id=fresh(), table_id=game.table_id))
        await game.play(chance_of("to the ratings"))
        await all_rated(own_database_dsn, ledger)
    events = [decode(stored.type, stored.data) for stored in await game.events()]
    (hand,) = [event for event in events if isinstance(event, HandFinished)]
    (fine,) = [event for event in events if isinstance(event, PlayerFined)]
    balances = await ledger.balances()
    for seat, player in enumerate(hand.players):
        owed = hand.points[seat] + (fine.points if seat == fine.seat else 0)
        assert balances.get(f"player:{player}", 0) == owed
    assert balances["house"] == -fine.points


async def test_jetstream_is_wiped_while_replicas_follow(
    recorder: Recorder, ledger: Ledger, own_database_dsn: str, nats: EmbeddedNats, url: str
) -> None:
    """Both streams are filled again, from the log and from the ledger, and everybody ends where the log is."""
    async with everything_follows(own_database_dsn, url, 2):
        await recorder.record_some(5)
        await all_rated(own_database_dsn, ledger)
        await recorder.record_some(5, seed=2)
        await wipe(nats)
        await recorder.record_some(5, seed=3)
        await all_rated(own_database_dsn, ledger)


async def test_points_and_ratings_are_made_anew(
    recorder: Recorder, ledger: Ledger, own_database_dsn: str, url: str
) -> None:
    """Both schemas are dropped and made again while nobody follows: all is scored and rated once more, from the log."""
    async with everything_follows(own_database_dsn, url, 1):
        await recorder.record_some(5)
        await all_rated(own_database_dsn, ledger)
    before = await ledger.postings()
    admin = await asyncpg.connect(own_database_dsn)
    await admin.execute("drop schema scoring cascade; drop schema rating cascade")
    await admin.close()
    for service in (scoring_service, rating_service):
        await asyncio.to_thread(service.migrations.migrate, own_database_dsn)
    async with everything_follows(own_database_dsn, url, 1):
        await recorder.record_some(1, seed=2)
        await all_rated(own_database_dsn, ledger)
    assert (await ledger.postings())[: len(before)] == before


async def test_processes_are_killed_and_catch_up(
    recorder: Recorder, ledger: Ledger, own_database_dsn: str, url: str, tmp_path: Path
) -> None:
    """`python -m` of both services, killed and started again, book and rate everything once, and answer."""
    environment = {"BAOHUANG_POSTGRES_DSN": own_database_dsn, "BAOHUANG_NATS_URL": url, "BAOHUANG_INSECURE_DEV": "true"}
    async with (
        relaying(own_database_dsn, url),
        process(SCORING, tmp_path, environment) as scoring,
        process(RATING, tmp_path, environment) as rating,
    ):
        await recorder.record_some(5)
        await all_rated(own_database_dsn, ledger)
        await recorder.record_some(10, seed=2)
        for service in (scoring, rating):
            await service.kill()
            await service.start()
        await recorder.record_some(3, seed=3)
        await all_rated(own_database_dsn, ledger)
        await answers(scoring.address, rating.address, balances_of(await ledger.postings()))


@asynccontextmanager
async def process(service: Service, folder: Path, environment: dict[str, str]) -> AsyncIterator[ServiceProcess]:
    """Run a service as a process until the end of the block."""
    started_process = ServiceProcess(service, folder, environment)
    await started_process.start()
    try:
        yield started_process
    finally:
        await started_process.stop()


async def answers(scoring: str, rating: str, balances: dict[str, int]) -> None:
    """Check that each service answers with the balances of all players."""
    async with grpc.aio.insecure_channel(scoring) as to_scoring, grpc.aio.insecure_channel(rating) as to_rating:
        for account, balance in balances.items():
            reply = await Caller(to_scoring).call(pb.GetAccountRequest(account=account))
            assert reply.account.balance == balance
            if account != "house":
                asked = rating_pb.GetRatingRequest(player=account.removeprefix("player:"))
                assert (await Caller(to_rating).call(asked)).rating.points == balance
