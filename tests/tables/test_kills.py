import asyncio
import signal
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import grpc
import pytest

from baohuang.eventlog.port import EventLog
from baohuang.eventlog.postgres.log import PostgresLog, open_log
from bench.random_player import chance_of
from command_line.service_process import ServiceProcess
from command_line.services import TABLE
from eventually import eventually
from tables.clients import Client, open_table
from tables.games import PLAYERS, Game
from tables.persistent import QUICK, Persistent, all_answered
from tables.records import by_request, check_positions, check_table
from tables.viewers import Response

KILLS = 3
CALLS, STREAMS = 200, 500
GRACE_SECONDS = 5
EXIT_SECONDS = 5.0
"""What a process may take beside its grace period to say that it goes, and to end."""


@pytest.fixture
async def process(own_database_dsn: str, tmp_path: Path) -> AsyncIterator[ServiceProcess]:
    """Give a running table service, a process of its own over PostgreSQL."""
    environment = {
        "BAOHUANG_POSTGRES_DSN": own_database_dsn,
        "BAOHUANG_INSECURE_DEV": "true",
        "BAOHUANG_DEV_SEED": "11",
        "BAOHUANG_DRAIN_GRACE_SECONDS": str(GRACE_SECONDS),
    }
    service = ServiceProcess(TABLE, tmp_path, environment)
    await service.start()
    yield service
    await service.stop()


@pytest.fixture
async def durable_log(own_database_dsn: str) -> AsyncIterator[PostgresLog]:
    """Give the log under that service."""
    async with open_log(own_database_dsn) as log:
        yield log


async def test_a_hand_outlives_kills(process: ServiceProcess, durable_log: PostgresLog) -> None:
    """Killed and started again in mid-hand, several times, at moments nobody chose, while five players play on.

    Every answer a player got is in the log, with that version and hash, once; nothing else is; the chain holds; the
    hand is finished and its points sum to zero.
    """
    chance = chance_of("kills")
    async with AsyncExitStack() as stack:
        channels = [
            await stack.enter_async_context(grpc.aio.insecure_channel(process.address, options=QUICK)) for _ in PLAYERS
        ]
        clients = [Client(channel, player) for channel, player in zip(channels, PLAYERS, strict=True)]
        table_id = (await clients[0].call(open_table("homy-weihai"))).table_id
        players = [Persistent(client, table_id, seat, chance_of(seat)) for seat, client in enumerate(clients)]
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(kill_again_and_again(process, players, [chance.randint(3, 25) for _ in range(KILLS)]))
            for player in players:
                tasks.create_task(player.sit_and_play())
    game, answered = Game(durable_log, table_id, clients), all_answered(players)
    result = (await game.hand()).result
    assert result is not None
    assert sum(result.points) == 0
    assert sum(player.broken for player in players) >= KILLS
    await check_positions(durable_log)
    await check_table(game, answered)


async def kill_again_and_again(process: ServiceProcess, players: list[Persistent], pauses: Sequence[int]) -> None:
    """Kill and start the service each time the players got so many more answers."""
    for pause in pauses:
        enough = len(all_answered(players)) + pause
        await eventually(lambda wanted=enough: has_answered(players, wanted), within=30)  # type: ignore[misc]
        await process.kill()
        await process.start()


async def has_answered(players: list[Persistent], wanted: int) -> bool:
    """Tell whether the players got so many answers."""
    return len(all_answered(players)) >= wanted


async def test_sigterm_answers_every_call(process: ServiceProcess, durable_log: PostgresLog) -> None:
    """Two hundred calls in flight, 500 streams open: OK means stored, and what is stored was answered with OK.

    A call that the service had not begun is cut off by gRPC: UNAVAILABLE, or CANCELLED if it waited to be accepted.
    Each stream gets a Reconnect with its version and ends with OK; the process exits with 0, within its grace period.
    """
    async with grpc.aio.insecure_channel(process.address, options=QUICK) as channel:
        client = Client(channel, "an")
        opened = await client.call(open_table())
        streams = [Client(channel, f"w{number}").watch(opened.table_id, seconds=60) for number in range(STREAMS)]
        for stream in streams:
            assert (await stream.read()).HasField("snapshot")
        requests = [open_table() for _ in range(CALLS)]
        callers = [Client(channel, f"caller-{number}") for number in range(CALLS)]
        calls = asyncio.gather(*map(Client.call, callers, requests), return_exceptions=True)
        await eventually(lambda: is_stored(durable_log, 3))
        process.child.send(signal.SIGTERM)
        sent_at = time.monotonic()
        ends = await asyncio.gather(*(the_end(stream) for stream in streams))
        outcomes = await calls
    assert await process.child.wait() == 0
    assert time.monotonic() - sent_at < GRACE_SECONDS + EXIT_SECONDS
    assert ends == [(1 + 1, grpc.StatusCode.OK)] * STREAMS
    stored = by_request(await durable_log.read_all(limit=10_000))
    for request, outcome in zip(requests, outcomes, strict=True):
        if isinstance(outcome, BaseException):
            assert isinstance(outcome, grpc.aio.AioRpcError)
            assert outcome.code() in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED}
            assert request.request_id not in stored
        else:
            assert stored[request.request_id][-1].hash == outcome.hash


async def is_stored(log: EventLog, events: int) -> bool:
    """Tell whether the log holds so many events."""
    return len(await log.read_all()) >= events


async def the_end(stream: "grpc.aio.UnaryStreamCall[object, Response]") -> tuple[int, grpc.StatusCode]:
    """Read a stream to its end; give the version its Reconnect names, and its status."""
    version = 0
    while isinstance(response := await stream.read(), Response):
        if response.HasField("reconnect"):
            version = response.reconnect.version
    return version, await stream.code()
