"""Bytes of memory that an idle replica of each service has in use: less is better.

Each runs as its image runs it, by `baohuang serve`, with tokens, probes and metrics, without TLS and traces. All are
connected to what they need and have nothing to do. They are held against a process that has imported gRPC, asyncpg and
nats-py, and nothing else.
"""

import asyncio
import os
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from command_line.development_key import DevelopmentKey
from command_line.migrating import migrate_all
from command_line.service_process import Service
from command_line.services import (
    BESIDE_TABLES,
    BOTS,
    HISTORY,
    MATCHMAKING,
    RATING,
    SCORING,
    TABLE,
    BackendOptions,
    Surroundings,
)

from .place import Place, place
from .processes import baseline, resident
from .row import Bench, Row

_SERVICES: Final = (TABLE, RATING, SCORING, MATCHMAKING, HISTORY, BOTS)
"""In the order in which they start: whom others call first."""
_ROWS: Final = {f"memory.idle.{service.name}": service for service in _SERVICES}
_AGAINST: Final = "bare imports: grpc, asyncpg, nats"
_LISTENS: Final = b"listening on "
_ANYWHERE: Final = "127.0.0.1:0"
_PATIENCE_SECONDS: Final = 60.0
_LOOK_SECONDS: Final = 2.0
_STILL: Final = 0.002
"""By what part one may grow between two looks that has come to rest."""


async def run(wanted: Sequence[str]) -> Sequence[Row]:
    """Start all, and measure the wanted rows when all have come to rest."""
    with tempfile.TemporaryDirectory() as folder:
        DevelopmentKey.made_or_found(Path(folder))
        async with place() as here, baseline("bare_imports") as bare:
            await asyncio.to_thread(migrate_all, here.dsn, BESIDE_TABLES)
            async with _served(here, Path(folder)) as pids:
                await _at_rest(list(pids.values()))
                against = resident(bare.pid)
                return [Row(name, resident(pids[_ROWS[name]]), "bytes", against, _AGAINST) for name in wanted]


@asynccontextmanager
async def _served(here: Place, folder: Path) -> AsyncIterator[Mapping[Service, int]]:
    """Run one replica of each service; give their process ids."""
    options = BackendOptions(folder, beside=BESIDE_TABLES)
    nats = dict.fromkeys((TABLE, SCORING, RATING), here.url)
    addresses = {BOTS: ""}
    pids = {}
    async with AsyncExitStack() as stack:
        for service in _SERVICES:
            told = Surroundings(options, here.dsn, nats, addresses).environment_of(service)
            process = await stack.enter_async_context(
                _started(service, {**told, **_beside(service, addresses)}, folder)
            )
            addresses[service] = await _address(process)
            pids[service] = process.pid
        yield pids


def _beside(service: Service, addresses: Mapping[Service, str]) -> Mapping[str, str]:
    """Return the variables that a pod has, and a service of `baohuang up` has not."""
    pod = {"BAOHUANG_PROBE_LISTEN": _ANYWHERE, "BAOHUANG_METRICS_LISTEN": _ANYWHERE}
    return {**pod, "BAOHUANG_TABLE_TARGET": addresses[TABLE]} if service == HISTORY else pod


@asynccontextmanager
async def _started(service: Service, environment: Mapping[str, str], folder: Path) -> AsyncIterator[Process]:
    arguments = (sys.executable, "-m", "command_line", "serve", service.name)
    with (folder / f"{service.name}.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *arguments, env={**os.environ, **environment}, stdout=PIPE, stderr=log
        )
        try:
            yield process
        finally:
            process.terminate()
            await process.wait()


async def _address(process: Process) -> str:
    """Wait until it serves. Raises RuntimeError if it ends instead."""
    assert process.stdout is not None
    async with asyncio.timeout(_PATIENCE_SECONDS):
        async for line in process.stdout:
            if line.startswith(_LISTENS):
                return line.removeprefix(_LISTENS).decode().strip()
    raise RuntimeError("a service ended before it served")


async def _at_rest(pids: Sequence[int]) -> None:
    """Wait until none of them grows any more."""
    async with asyncio.timeout(_PATIENCE_SECONDS):
        before = [resident(pid) for pid in pids]
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            now = [resident(pid) for pid in pids]
            if all(grown <= (1 + _STILL) * one for grown, one in zip(now, before, strict=True)):
                return
            before = now


BENCH: Final = Bench(tuple(_ROWS), run)
