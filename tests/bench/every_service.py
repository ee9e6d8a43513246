"""One replica of each service, as its image runs it: by `baohuang serve`, with tokens, probes and metrics."""

import asyncio
import os
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from command_line.development_key import DevelopmentKey
from command_line.migrating import migrate_all
from command_line.services import BESIDE_TABLES, BOTS, HISTORY, MATCHMAKING, RATING, SCORING, TABLE, Service
from command_line.surroundings import BackendOptions, Surroundings

from .place import Place, place
from .processes import processor_seconds

SERVICES: Final = (TABLE, RATING, SCORING, MATCHMAKING, HISTORY, BOTS)
"""In the order in which they start: whom others call first."""
_LISTENS: Final = b"listening on "
_ANYWHERE: Final = "127.0.0.1:0"
_PATIENCE_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Somewhere:
    """Servers with every schema, and a folder with the key of tokens."""

    servers: Place
    folder: Path


@dataclass(frozen=True, slots=True)
class Begun:
    """A replica that serves, and the seconds of processor time that it took until then."""

    pid: int
    seconds: float


@asynccontextmanager
async def somewhere() -> AsyncIterator[Somewhere]:
    """Give a PostgreSQL and a NATS for all of them."""
    with tempfile.TemporaryDirectory() as folder:
        DevelopmentKey.made_or_found(Path(folder))
        async with place() as servers:
            await asyncio.to_thread(migrate_all, servers.dsn, BESIDE_TABLES)
            yield Somewhere(servers, Path(folder))


@asynccontextmanager
async def every_service(here: Somewhere) -> AsyncIterator[Mapping[Service, Begun]]:
    """Run one replica of each service, started one after the other."""
    options = BackendOptions(here.folder, beside=BESIDE_TABLES)
    nats = dict.fromkeys((TABLE, SCORING, RATING), here.servers.url)
    addresses = {BOTS: ""}
    begun = {}
    async with AsyncExitStack() as stack:
        for service in SERVICES:
            told = Surroundings(options, here.servers.dsn, nats, addresses).environment_of(service)
            variables = {**told, **_beside(service, addresses)}
            process = await stack.enter_async_context(_started(service, variables, here.folder))
            addresses[service] = await _address(process)
            begun[service] = Begun(process.pid, processor_seconds(process.pid))
        yield begun


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
