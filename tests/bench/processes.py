"""Processes of a bench: table services on a PostgreSQL of their own, and baselines to hold them against.

A baseline is a module that is run with the number it has to hold. It says "ready" before it holds them; on a line from
its standard input it gets them, and says "held".
"""

import asyncio
import os
import resource
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from baohuang.embedded.postgres import EmbeddedPostgres
from baohuang.eventlog.postgres.migrations import migrate
from command_line.service_process import ServiceProcess
from command_line.services import TABLE

_PAGE: Final = resource.getpagesize()
_TICKS: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Serving:
    """Table services over one database."""

    dsn: str
    services: Sequence[ServiceProcess]


def resident(pid: int) -> int:
    """Return the bytes of memory that a process has in use now."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE


def processor_seconds(pid: int) -> float:
    """Return the processor time that a process has taken until now, in hundredths as a rule."""
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    user, system = after_name[11:13]
    return (int(user) + int(system)) / _TICKS


@asynccontextmanager
async def serving(replicas: int, settings: Mapping[str, str]) -> AsyncIterator[Serving]:
    """Run PostgreSQL with its defaults and so many table services, with development identities and no rate limit."""
    with tempfile.TemporaryDirectory() as folder:
        server = EmbeddedPostgres(Path(folder))
        dsn = await server.start()
        try:
            await asyncio.to_thread(migrate, dsn)
            async with AsyncExitStack() as stack:
                environment = {
                    "BAOHUANG_POSTGRES_DSN": dsn,
                    "BAOHUANG_INSECURE_DEV": "true",
                    "BAOHUANG_RATE_LIMIT_PER_SECOND": "inf",
                    **settings,
                }
                homes = [tempfile.mkdtemp(prefix=f"{number}-", dir=folder) for number in range(replicas)]
                started = [await _started(stack, Path(home), environment) for home in homes]
                yield Serving(dsn, started)
        finally:
            await server.destroy()


async def _started(stack: AsyncExitStack, home: Path, environment: Mapping[str, str]) -> ServiceProcess:
    service = ServiceProcess(TABLE, home, environment)
    await service.start()
    stack.push_async_callback(service.stop)
    return service


class Baseline:
    """A running baseline; `said` is what it said after "ready"."""

    def __init__(self, process: Process, said: str) -> None:
        self._process = process
        self.said = said

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    async def hold(self) -> None:
        """Have it get what it is to hold."""
        assert self._process.stdin is not None
        self._process.stdin.write(b"go\n")
        await _line(self._process, "held")


@asynccontextmanager
async def baseline(module: str, *arguments: str) -> AsyncIterator[Baseline]:
    """Run a module of this package, ready at the beginning of the block and ended after it."""
    name = f"{__package__}.{module}"
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", name, *arguments, stdin=PIPE, stdout=PIPE)
    try:
        yield Baseline(process, await _line(process, "ready"))
    finally:
        process.terminate()
        await process.wait()


async def _line(process: Process, word: str) -> str:
    """Read the line that begins with the word, and return what follows it. Raises RuntimeError for another line."""
    assert process.stdout is not None
    line = (await process.stdout.readline()).decode().strip()
    if not line.startswith(word):
        raise RuntimeError(f"{word!r} was to be said, not {line!r}")
    return line.removeprefix(word).strip()
