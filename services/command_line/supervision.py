"""Processes that are started again when they end by themselves, and whose logs stay bounded.

running ──ended──► waiting ──start──► running
                      ▲                  │ the start failed: a longer wait, and at last the reason is raised
                      └──────────────────┘
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import NoReturn, Protocol

from baohuang.embedded.bounded_log import LOG_BYTES, bound
from baohuang.embedded.child import Child
from baohuang.embedded.errors import EmbeddedServerError
from baohuang.embedded.server import EmbeddedServer

Tell = Callable[[str], None]


class MovedError(Exception):
    """A server came back at another address than its clients were given, since its own was taken meanwhile."""


class Process(Protocol):
    """What can be kept running."""

    @property
    def name(self) -> str:
        """What it is called in messages."""

    @property
    def child(self) -> Child:
        """The process as it was started last."""

    async def start_again(self) -> None:
        """Start it after it has ended. Raises EmbeddedServerError, MovedError."""


@dataclass(frozen=True, slots=True)
class KeptServer:
    """An embedded server whose clients know it at one URL."""

    server: EmbeddedServer
    url: str

    @property
    def name(self) -> str:
        """See `Process.name`."""
        return self.server.name

    @property
    def child(self) -> Child:
        """See `Process.child`."""
        return self.server.child

    async def start_again(self) -> None:
        """See `Process.start_again`."""
        await self.server.stop()
        if await self.server.start() != self.url:
            raise MovedError(f"{self.name} ended, and its port was taken before it could be started again")


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast a process is started again, in seconds. Waits double up to the longest; a steady run makes them short.

    It is given up after so many `attempts` in a row that failed, and that took the `patience` at least: those of a
    service do while PostgreSQL recovers from a crash. Logs are looked at every `look_seconds`, and kept under
    `log_bytes`, more or less.
    """

    first_wait: float = 0.1
    longest_wait: float = 4.0
    steady: float = 30.0
    attempts: int = 5
    patience: float = 120.0
    look_seconds: float = 10.0
    log_bytes: int = LOG_BYTES


async def supervise(processes: Sequence[Process], tell: Tell, pace: Pace | None = None) -> NoReturn:
    """Keep all of them running until cancelled.

    Raises EmbeddedServerError when one cannot be started any more, MovedError when one came back elsewhere.
    """
    pace = pace or Pace()
    tasks = [asyncio.create_task(_keep(process, tell, pace)) for process in processes]
    tasks.append(asyncio.create_task(_bound_logs([process.child.program.log for process in processes], tell, pace)))
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        raise next(iter(done)).exception() or AssertionError("supervision has no end of its own")
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _keep(process: Process, tell: Tell, pace: Pace) -> NoReturn:
    wait = pace.first_wait
    while True:
        since = time.monotonic()
        code = await process.child.wait()
        wait = pace.first_wait if time.monotonic() - since >= pace.steady else min(2 * wait, pace.longest_wait)
        tell(f"{process.name} ended with exit code {code}; it is started again")
        await asyncio.sleep(wait)
        await _start_again(process, tell, pace)
        tell(f"{process.name} is up again")


async def _start_again(process: Process, tell: Tell, pace: Pace) -> None:
    wait, until = pace.first_wait, time.monotonic() + pace.patience
    for attempt in count(1):
        try:
            await process.start_again()
        except EmbeddedServerError as error:
            if attempt >= pace.attempts and time.monotonic() >= until:
                raise
            wait = min(2 * wait, pace.longest_wait)
            tell(f"{process.name} does not start ({str(error).splitlines()[0]}); it is tried again")
            await asyncio.sleep(wait)
        else:
            return


async def _bound_logs(logs: Sequence[Path], tell: Tell, pace: Pace) -> NoReturn:
    while True:
        for log in logs:
            try:
                bound(log, pace.log_bytes)
            except OSError as error:
                tell(f"{log} grows: {error}")
        await asyncio.sleep(pace.look_seconds)
