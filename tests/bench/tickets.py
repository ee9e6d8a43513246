"""Tickets a second that one replica of matchmaking makes and matches, beside the calls a second of a bare gRPC echo.

Players come as fast as they are answered, a number of them at a time. A ticket is matched when its match is recorded,
at which its watchers are told; nobody watches here. `tickets` ends when the last one is. The tables are opened beside
it, one call a match, by one table service on the same machine; `seats` ends when the last player sits at one.
PostgreSQL has its defaults (fsync on). Each round calls the echo as often, from the same process in the same way.
"""

import asyncio
import gc
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
from command_line.service_process import ServiceProcess
from command_line.services import Service

from .bare_echo import SERVICE
from .processes import Serving, baseline, serving
from .row import Bench, Row

_ROUNDS: Final = 5
_TICKETS: Final = 1_000
_AT_ONCE: Final = 200
_MATCHMAKING: Final = Service("matchmaking", "matchmaking_service.main", "BAOHUANG_MATCHMAKING_LISTEN")
_MATCHED: Final = "select not exists (select from matchmaking.parties where open and match_id is null)"
_SEATED: Final = "select not exists (select from matchmaking.tickets where state = 'queued')"
_ROWS: Final = ("matchmaking.tickets", "matchmaking.seats")
_LOOK_SECONDS: Final = 0.01
_Call = Callable[[str], Awaitable[object]]


async def run(_wanted: Sequence[str]) -> Sequence[Row]:
    """Measure both in the same rounds."""
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
                    return await _measured(tables.dsn, ours, theirs)
            finally:
                await service.stop()


async def _measured(dsn: str, ours: grpc.aio.Channel, theirs: grpc.aio.Channel) -> Sequence[Row]:
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
    # Pauses of this process would be taken for the services'.
    gc.disable()
    try:
        rates = [
            (*await _rates(f"r{number}", queue, connection, _MATCHED, _SEATED), *await _rates("echo", echo, connection))
            for number in range(_ROUNDS)
        ]
    finally:
        gc.enable()
        await connection.close()
    *values, against = (statistics.median(one) for one in zip(*rates, strict=True))
    beside = "calls/s of a bare gRPC echo"
    return [Row(name, value, "tickets/s", against, beside) for name, value in zip(_ROWS, values, strict=True)]


async def _rates(prefix: str, call: _Call, tickets: asyncpg.Connection, *ends: str) -> Sequence[float]:
    """Return the calls a second of a round, until each query is true; if there is none, until the last answer."""
    players = (f"{prefix}-{player}" for player in itertools.count())
    gc.collect()
    start = time.perf_counter()

    async def come() -> None:
        for _ in range(_TICKETS // _AT_ONCE):
            await call(next(players))

    await asyncio.gather(*(come() for _ in range(_AT_ONCE)))
    rates = []
    for end in ends or ("select true",):
        while not await tickets.fetchval(end):  # noqa: ASYNC110 (of a database, which sets no event)
            await asyncio.sleep(_LOOK_SECONDS)
        rates.append(_TICKETS / (time.perf_counter() - start))
    return rates


def _service(tables: Serving, folder: Path) -> ServiceProcess:
    environment = {
        "BAOHUANG_POSTGRES_DSN": tables.dsn,
        "BAOHUANG_INSECURE_DEV": "true",
        "BAOHUANG_TABLE_ADDRESS": tables.services[0].address,
    }
    return ServiceProcess(_MATCHMAKING, folder, environment)


BENCH: Final = Bench(_ROWS, run)
