"""Tickets a second that one replica of matchmaking makes and matches, beside the calls a second of a bare gRPC echo.

Players come as fast as they are answered, a number of them at a time; the time ends when all of them sit at tables,
which one table service opens. PostgreSQL has its defaults (fsync on). Each round calls the echo as often, from the same
process in the same way.
"""

import asyncio
import itertools
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Final

import asyncpg
import grpc

import matchmaking_service.migrations
from baohuang.gen.matchmaking.v1 import matchmaking_service_pb2 as pb
from baohuang.gen.matchmaking.v1 import matchmaking_service_pb2_grpc
from command_line.service_process import Service, ServiceProcess

from .bare_echo import SERVICE
from .processes import Serving, baseline, serving
from .row import Bench, Row

_ROUNDS: Final = 5
_TICKETS: Final = 500
_AT_ONCE: Final = 50
_MATCHMAKING: Final = Service("matchmaking", "matchmaking_service.main", "BAOHUANG_MATCHMAKING_LISTEN")
_LEFT: Final = "select count(*) from matchmaking.tickets where state = 'queued'"
_LOOK_SECONDS: Final = 0.01
_Call = Callable[[str], Awaitable[object]]


async def run(_wanted: Sequence[str]) -> Sequence[Row]:
    """Measure in rounds."""
    async with serving(1, {}) as tables, baseline("bare_echo") as echo:
        await asyncio.to_thread(matchmaking_service.migrations.migrate, tables.dsn)
        with tempfile.TemporaryDirectory() as folder:
            service = _service(tables, Path(folder))
            await service.start()
            try:
                async with (
                    grpc.aio.insecure_channel(service.address) as ours,
                    grpc.aio.insecure_channel(f"127.0.0.1:{echo.said}") as theirs,
                ):
                    return [await _row(tables.dsn, ours, theirs)]
            finally:
                await service.stop()


async def _row(dsn: str, ours: grpc.aio.Channel, theirs: grpc.aio.Channel) -> Row:
    stub = matchmaking_service_pb2_grpc.MatchmakingServiceStub(ours)
    bare: Any = theirs.unary_unary(f"/{SERVICE}/Echo")  # type: ignore[call-arg] # bytes need no serializers
    party = pb.NewParty(ruleset="ourgame-simple")

    async def queue(player: str) -> None:
        request = pb.CreateTicketRequest(request_id="queue", new_party=party)
        await stub.CreateTicket(request, metadata=(("baohuang-player", player),))

    async def echo(player: str) -> None:
        request = pb.CreateTicketRequest(request_id="queue", new_party=party)
        await bare(request.SerializeToString(), metadata=(("baohuang-player", player),))

    connection = await asyncpg.connect(dsn)
    try:
        rates = [(await _rate(number, queue, connection), await _rate(number, echo, None)) for number in range(_ROUNDS)]
    finally:
        await connection.close()
    value, against = (statistics.median(one) for one in zip(*rates, strict=True))
    return Row("matchmaking.tickets", value, "tickets/s", against, "calls/s of a bare gRPC echo")


async def _rate(number: int, call: _Call, tickets: asyncpg.Connection | None) -> float:
    """Return the calls a second of a round, until none of the tickets is left in the queue."""
    players = (f"r{number}-{player}" for player in itertools.count())
    start = time.perf_counter()

    async def come() -> None:
        for _ in range(_TICKETS // _AT_ONCE):
            await call(next(players))

    await asyncio.gather(*(come() for _ in range(_AT_ONCE)))
    while tickets is not None and await tickets.fetchval(_LEFT):  # noqa: ASYNC110 (of a database, which sets no event)
        await asyncio.sleep(_LOOK_SECONDS)
    return _TICKETS / (time.perf_counter() - start)


def _service(tables: Serving, folder: Path) -> ServiceProcess:
    environment = {
        "BAOHUANG_POSTGRES_DSN": tables.dsn,
        "BAOHUANG_INSECURE_DEV": "true",
        "BAOHUANG_TABLE_ADDRESS": tables.services[0].address,
    }
    return ServiceProcess(_MATCHMAKING, folder, environment)


BENCH: Final = Bench(("matchmaking.tickets",), run)
