"""Durable plays a second, and how long a play takes to reach the other four: the table service beside a skeleton of it.

Both are processes of their own on one embedded PostgreSQL with its defaults (fsync on); the load is this process, on
the same machine. They take turns in rounds, so that a noisy machine bothers both; the medians of the rounds are
compared. Of plays a second more is better, of milliseconds less.
"""

import asyncio
import os
import statistics
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

import grpc

from baohuang.embedded.postgres import EmbeddedPostgres
from baohuang.eventlog.postgres.migrations import migrate
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.gen.table.v1 import table_service_pb2_grpc
from baohuang.rules.state import ALL_SEATS
from command_line.service_process import ServiceProcess
from command_line.services import TABLE, Service

from .plays_load import Measured, Shape, Target, measured
from .plays_script import DEV_SEED, Script, opening, recorded
from .plays_seats import Connect, StreamSeat, UnarySeat
from .row import Bench, Row

_ROUNDS: Final = 5
_WAYS: Final[dict[str, Connect]] = {"unary": UnarySeat, "stream": StreamSeat}
_SHAPES: Final = {"1": Shape(1, 8, 1.5, 200), "50": Shape(50, 1, 1.5, 1500), "100": Shape(100, 1, 1.5, 2000)}
_WARM_UP: Final = Shape(5, 1, 0.5)
_SKELETON: Final = Service("skeleton", "tests.bench.plays_skeleton", "SKELETON_LISTEN")
_ROOT: Final = Path(__file__).parents[2]
_AGAINST: Final = "same traffic, one insert, no logic"


@dataclass(frozen=True, slots=True)
class _Rivals:
    """Who takes turns."""

    table: Target
    skeleton: Target


async def run(wanted: Sequence[str]) -> Sequence[Row]:
    """Measure the wanted ways and numbers of tables."""
    script = await recorded()
    rows: list[Row] = []
    async with _serving() as rivals:
        for way, connect in _WAYS.items():
            for target in (rivals.table, rivals.skeleton):
                await measured(target, script, connect, _WARM_UP)
            for number, shape in _SHAPES.items():
                name = f"play.{way}.{number}"
                if any(one.startswith(name) for one in wanted):
                    rows += await _rows(name, rivals, script, connect, shape)
    return [row for row in rows if row.name in wanted]


async def _rows(name: str, rivals: _Rivals, script: Script, connect: Connect, shape: Shape) -> Sequence[Row]:
    ours: list[Measured] = []
    theirs: list[Measured] = []
    for _ in range(_ROUNDS):
        theirs.append(await measured(rivals.skeleton, script, connect, shape))
        ours.append(await measured(rivals.table, script, connect, shape))
    value, baseline = _median(ours), _median(theirs)
    return [
        Row(name, value.rate, "plays/s", baseline.rate, _AGAINST),
        Row(f"{name}.p50", value.p50, "ms", baseline.p50, _AGAINST),
        Row(f"{name}.p99", value.p99, "ms", baseline.p99, _AGAINST),
    ]


def _median(rounds: Sequence[Measured]) -> Measured:
    return Measured(
        statistics.median(one.rate for one in rounds),
        statistics.median(one.p50 for one in rounds),
        statistics.median(one.p99 for one in rounds),
    )


@asynccontextmanager
async def _serving() -> AsyncIterator[_Rivals]:
    """Run PostgreSQL and both rivals."""
    with tempfile.TemporaryDirectory() as folder:
        server = EmbeddedPostgres(Path(folder))
        dsn = await server.start()
        rivals = [ServiceProcess(service, Path(folder), _environment(dsn)) for service in (TABLE, _SKELETON)]
        try:
            await asyncio.to_thread(migrate, dsn)
            for rival in rivals:
                await rival.start()
            table, skeleton = rivals
            yield _Rivals(
                Target(table.address, open_table, start_hand), Target(skeleton.address, _name_table, _start_nothing)
            )
        finally:
            for rival in rivals:
                await rival.stop()
            await server.destroy()


def _environment(dsn: str) -> dict[str, str]:
    path = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
    return {
        "BAOHUANG_POSTGRES_DSN": dsn,
        "BAOHUANG_INSECURE_DEV": "true",
        "BAOHUANG_DEV_SEED": str(DEV_SEED),
        "BAOHUANG_RATE_LIMIT_PER_SECOND": "inf",
        "PYTHONPATH": path,
    }


async def open_table(channels: Sequence[grpc.aio.Channel], players: Sequence[str]) -> str:
    """Open a table and seat the five."""
    stubs = [table_service_pb2_grpc.TableServiceStub(channel) for channel in channels]
    callers = [(("baohuang-player", player),) for player in players]
    request = opening()
    request.request_id = "open"
    table_id = (await stubs[0].OpenTable(request, metadata=callers[0])).table_id
    for seat in ALL_SEATS:
        sitting = pb.SitDownRequest(request_id="sit", table_id=table_id, seat=seat)
        await stubs[seat].SitDown(sitting, metadata=callers[seat])
    return table_id


async def start_hand(channels: Sequence[grpc.aio.Channel], players: Sequence[str], table_id: str) -> None:
    """Get the five ready."""
    for channel, player in zip(channels, players, strict=True):
        ready = pb.SetReadyRequest(request_id="ready", table_id=table_id, ready=True)
        stub = table_service_pb2_grpc.TableServiceStub(channel)
        await stub.SetReady(ready, metadata=(("baohuang-player", player),))


async def _name_table(_channels: Sequence[grpc.aio.Channel], _players: Sequence[str]) -> str:
    """Make up a table: the skeleton takes any."""
    return str(uuid4())


async def _start_nothing(_channels: Sequence[grpc.aio.Channel], _players: Sequence[str], _table_id: str) -> None:
    """Do nothing: the skeleton has no hands."""


BENCH: Final = Bench(
    tuple(f"play.{way}.{number}{what}" for way in _WAYS for number in _SHAPES for what in ("", ".p50", ".p99")), run
)
