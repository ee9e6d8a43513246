"""`baohuang up` as a user runs it: a process with a terminal's signals, told apart by what it prints."""

import asyncio
import os
import pwd
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from baohuang.client import BearerToken, connect
from baohuang.embedded.account import UNPRIVILEGED, Account
from baohuang.embedded.leftover import command_line
from baohuang.rpc.auth import Caller, CallerId, Role
from command_line.development_key import DevelopmentKey

SERVICES = ("table", "scoring", "rating", "matchmaking", "bots")
ALONE = tuple(f"--without={service}" for service in SERVICES[1:])
"""For what is not about the services beside the table service: each costs its start."""
READY_SECONDS = 60.0
END_SECONDS = 60.0


@dataclass(slots=True)
class Up:
    """A started `baohuang up`; `printed` grows as it is read."""

    process: asyncio.subprocess.Process
    data: Path
    printed: str = ""

    async def ready(self) -> None:
        """Wait for the endpoints. Fails with all that was printed when it ends before."""
        await asyncio.wait_for(self._read_until("callers"), READY_SECONDS)

    async def says(self, text: str) -> None:
        """Wait for a text; what was printed before counts."""
        await asyncio.wait_for(self._read_until(text), READY_SECONDS)

    async def opens_a_table(self) -> None:
        """Have a table opened, by a caller with a token: gRPC, the table service and PostgreSQL work together."""
        token = DevelopmentKey.of(self.data).token(Caller(CallerId("tester"), Role.PLAYER), 3600)
        async with connect(self.address, BearerToken(token)) as client:
            await client.open_table("ourgame-simple")

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Read what it prints for as long as the block lasts; should it end before, so does the block."""
        async with asyncio.TaskGroup() as tasks:
            reading = tasks.create_task(self._read_to_its_end())
            yield
            reading.cancel()

    async def end(self) -> int:
        """Read the rest and give the exit code."""
        await asyncio.wait_for(self._read_until(None), END_SECONDS)
        return await self.process.wait()

    async def interrupt(self, number: signal.Signals = signal.SIGINT) -> int:
        """Send the signal of Ctrl-C, or another, and give the exit code."""
        self.process.send_signal(number)
        return await self.end()

    @property
    def address(self) -> str:
        """Where the table service of this data folder serves, or served last."""
        return self.address_of("table")

    def address_of(self, service: str) -> str:
        """Where a service of this data folder serves, or served last."""
        return f"127.0.0.1:{(self.data / service / 'port').read_text()}"

    async def serving(self, service: str = "table") -> bool:
        """Whether the service's health answers SERVING."""
        async with grpc.aio.insecure_channel(self.address_of(service)) as channel:
            try:
                reply = await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=5)
            except grpc.aio.AioRpcError:
                return False
        return bool(reply.status == health_pb2.HealthCheckResponse.SERVING)

    async def _read_to_its_end(self) -> None:
        await self._read_until(None)
        raise AssertionError(f"it ended:\n{self.printed}")

    async def _read_until(self, text: str | None) -> None:
        assert self.process.stdout is not None
        while text is None or text not in self.printed:
            line = await self.process.stdout.readline()
            if not line:
                assert text is None, self.printed
                return
            self.printed += line.decode()


@asynccontextmanager
async def up(
    data: Path,
    *options: str,
    prefix: Sequence[str] = (),
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> AsyncIterator[Up]:
    """Start `baohuang up --data DATA OPTIONS...`; ended at exit, if it has not ended by then."""
    baohuang = [sys.executable, "-m", "command_line", "up", "--data", str(data), *options]
    process = await asyncio.create_subprocess_exec(
        *prefix,
        *baohuang,
        cwd=cwd,
        env={**_environment(), **(environment or {})},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    started = Up(process, data)
    try:
        yield started
    finally:
        if process.returncode is None:
            await started.interrupt(signal.SIGTERM)


def dsn_of(started: Up) -> str:
    """Read the DSN off the screen, as a user would."""
    return next(word for word in started.printed.split() if word.startswith("postgresql://"))


def processes(data: Path) -> dict[int, str]:
    """Give the running processes whose command line names something in the data folder."""
    numbers = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    lines = {number: command_line(number) for number in numbers}
    return {number: line for number, line in lines.items() if str(data) in line}


async def eventually(condition: Callable[[], bool]) -> None:
    """Wait until `condition` holds, for thirty seconds at most."""
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


def as_ordinary_user() -> Sequence[str]:
    """Give a command prefix that runs the rest as an ordinary user: nothing when we are one, else as `nobody`.

    Where `nobody` may not even read the interpreter (one installed under /root), it is given the right to read.
    """
    if os.geteuid() != 0:
        return ()
    found = pwd.getpwnam(UNPRIVILEGED)
    prefix = ["setpriv", f"--reuid={found.pw_uid}", f"--regid={found.pw_gid}", "--clear-groups"]
    if not Account(found.pw_uid, found.pw_gid).can_reach(Path(sys.executable).resolve()):
        prefix += ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
    return prefix


def _environment() -> dict[str, str]:
    """Our environment without the variables that would take the place of the embedded servers."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("BAOHUANG_")}
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "200"}
