"""Processes of a backend, kept running in this process, where the test can take away what they need."""

import asyncio
import os
import signal
import socket
import sys
from pathlib import Path

import pytest

from baohuang.embedded.account import Account
from baohuang.embedded.bounded_log import bound
from baohuang.embedded.child import Child, Program
from baohuang.embedded.errors import EmbeddedServerError, PortTaken, ServerDied
from command_line.backend import LocalBackend
from command_line.supervision import MovedError, Pace, supervise
from command_line.surroundings import BackendOptions
from up.running import eventually

QUICK = Pace(first_wait=0.01, longest_wait=0.02, attempts=3, patience=0.0)


def port_of(address: str) -> int:
    return int(address.rpartition(":")[2])


def taken(port: int) -> socket.socket:
    """Take a port as another program would."""
    return socket.create_server(("127.0.0.1", port), reuse_port=False)


async def test_a_service_that_cannot_start_any_more_ends_it_with_the_reason(data: Path) -> None:
    """It was killed and its port taken meanwhile: tried three times, each told, then raised in the service's words."""
    lines: list[str] = []
    async with LocalBackend(BackendOptions(data)) as backend:
        await backend.table.kill()
        with taken(port_of(backend.table.address)), pytest.raises(ServerDied, match="cannot listen on"):
            await supervise(backend.processes, lines.append, QUICK)
    assert [line.split(";")[-1] for line in lines] == [" it is started again", *[" it is tried again"] * 2]


async def test_a_server_whose_port_was_taken_ends_it(data: Path) -> None:
    """NATS comes back at another port, where its clients do not look for it."""
    async with LocalBackend(BackendOptions(data)) as backend:
        nats = backend.processes[1]
        await nats.child.stop(())
        with taken(port_of(backend.nats_url)), pytest.raises(MovedError, match="nats ended, and its port was taken"):
            await supervise(backend.processes, lambda _: None, QUICK)


async def test_replicas_do_not_share_the_port_of_another_program(data: Path) -> None:
    """A program that shares its port: the kernel would let ours listen on it too; refused by name."""
    with socket.create_server(("127.0.0.1", 0), reuse_port=True) as other:
        port = other.getsockname()[1]
        with pytest.raises(PortTaken, match=f"cannot listen on 127.0.0.1:{port}"):
            async with LocalBackend(BackendOptions(data, table_port=port, table_replicas=2)):
                pass


class Weak:
    """A process that starts every other time, and dies at once."""

    name = "weak"

    def __init__(self, program: Program) -> None:
        self._program = program
        self.tries = 0
        self.child = Child.start(program)

    async def start_again(self) -> None:
        """Start it, or fail to."""
        self.tries += 1
        if self.tries % 2:
            raise EmbeddedServerError("not this time")
        self.child = Child.start(self._program)


async def test_one_that_starts_and_dies_is_started_for_ever(tmp_path: Path) -> None:
    """Its starts fail now and then, never several times in a row: it is not given up."""
    weak, told = Weak(program(tmp_path, "")), asyncio.Semaphore(0)
    keeping = asyncio.create_task(supervise([weak], lambda _: told.release(), QUICK))
    for _ in range(12):
        await asyncio.wait_for(told.acquire(), 30)
    assert not keeping.done()
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)
    await weak.child.stop(())


class Late:
    """A process that needs many tries, as a service does while its database recovers, and runs then."""

    name = "late"

    def __init__(self, dead: Program, running: Program) -> None:
        self._running = running
        self.tries = 0
        self.child = Child.start(dead)

    async def start_again(self) -> None:
        """Fail to start it, or start it the twentieth time."""
        self.tries += 1
        if self.tries < 20:
            raise EmbeddedServerError("the database is away")
        self.child = Child.start(self._running)


async def test_one_whose_database_is_away_for_long_is_not_given_up(tmp_path: Path) -> None:
    """Its starts fail many times in a row, for less than the patience there is: it is up once it can be."""
    late = Late(program(tmp_path, ""), program(tmp_path, "import time\ntime.sleep(600)"))
    lines: list[str] = []
    pace = Pace(first_wait=0.01, longest_wait=0.01, attempts=3, patience=60.0)
    keeping = asyncio.create_task(supervise([late], lines.append, pace))
    await eventually(lambda: "late is up again" in lines)
    assert not keeping.done()
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)
    await late.child.stop(())


async def test_a_log_is_bounded_while_it_is_written(tmp_path: Path) -> None:
    """Beyond the limit its text moves to the file beside it; the process, which knows nothing, writes on at the top."""
    writer = Weak(program(tmp_path, "import time\nwhile True: print('x' * 99, flush=True); time.sleep(0.001)"))
    log, before = tmp_path / "log", tmp_path / "log.1"
    keeping = asyncio.create_task(supervise([writer], lambda _: None, Pace(look_seconds=0.01, log_bytes=5_000)))
    await eventually(before.exists)
    first = before.stat().st_mtime_ns
    await eventually(lambda: before.stat().st_mtime_ns > first)
    assert keeping.done() is False
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)
    assert writer.child.exit_code is None
    bound(log, 0)
    await eventually(lambda: log.stat().st_size > 0)
    await writer.child.stop(())
    assert set(log.read_text()) <= {"x", "\n"}


def program(folder: Path, code: str) -> Program:
    """Give a Python program that logs into the folder."""
    account = Account(os.geteuid(), os.getegid())
    arguments = [sys.executable, "-c", code]
    return Program("child", arguments, folder / "log", folder, dict(os.environ), account, signal.SIGKILL)
