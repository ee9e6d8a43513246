"""One service of this project as a child process: started on a known port, and up once it says that it listens.

It is not asked for its health: where replicas share a port, another one might answer.
"""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from baohuang.embedded.account import Account, passable_folder
from baohuang.embedded.child import POLL_SECONDS, Child, Program
from baohuang.embedded.leftover import stop_leftover
from baohuang.embedded.ports import LOOPBACK, kept_port
from command_line.services import Service

START_SECONDS = 30.0
STOP_STEPS = ((signal.SIGTERM, 20.0),)
_LISTENS: Final = b"listening on "
"""How the line begins that a service writes once it serves; the lines of its log are JSON and begin otherwise."""


class ServiceProcess:
    """A service with its port, process id and log under `data_dir/<name>`.

    `port` 0 keeps the port of the last start while it is free. `environment` is added to ours.
    """

    def __init__(self, service: Service, data_dir: Path, environment: Mapping[str, str], port: int = 0) -> None:
        self._service = service
        self._home = data_dir.resolve() / service.name
        self._environment = environment
        self._port = port
        self._child: Child | None = None

    @property
    def name(self) -> str:
        """The service's, or the replica's."""
        return self._service.name

    @property
    def address(self) -> str:
        """Where it serves: "host:port"; known once it was started."""
        return f"{LOOPBACK}:{self._port}"

    @property
    def child(self) -> Child:
        """The running process. Raises LookupError before the first start."""
        if self._child is None:
            raise LookupError(f"{self._service.name} was not started")
        return self._child

    async def start(self) -> None:
        """Start it and wait until it serves. Raises ServerDied; a restart takes the same port."""
        passable_folder(self._home)
        await stop_service_left_in(self._home)
        self._port = self._port or kept_port(self._home)
        program = self._program()
        logged_before = program.log.stat().st_size if program.log.exists() else 0
        self._child = Child.start(program)
        self._note_pid(self._child.pid)
        if not await _listens(self._child, logged_before):
            error = self._child.died()
            await self.stop()
            raise error

    async def start_again(self) -> None:
        """Start it after it has ended. Raises ServerDied."""
        await self.start()

    async def stop(self) -> None:
        """Ask it to drain, and wait for its end; harmless when it has ended."""
        if self._child is not None:
            await self._child.stop(STOP_STEPS)

    async def kill(self) -> None:
        """End it with SIGKILL, as a crash would."""
        await self.child.stop(())

    def _program(self) -> Program:
        arguments = [sys.executable, "-X", _marker(self._home), "-m", self._service.module]
        environment = {**os.environ, **self._environment, self._service.listen_variable: self.address}
        account = Account(os.geteuid(), os.getegid())
        log = self._home / "log"
        return Program(self._service.name, arguments, log, self._home, environment, account, signal.SIGTERM)

    def _note_pid(self, pid: int) -> None:
        (self._home / "pid").write_text(f"{pid}\n")


async def stop_service_left_in(home: Path) -> None:
    """Stop a service that a killed run left behind in its folder. Raises EmbeddedServerError."""
    await stop_leftover(home / "pid", _marker(home), STOP_STEPS)


def _marker(home: Path) -> str:
    # Python ignores -X options it does not know: this one lets a leftover be told by its command line.
    return f"baohuang-home={home}/"


async def _listens(child: Child, logged_before: int) -> bool:
    """Wait for the line that says so; False when the process ended or START_SECONDS went by."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        with child.program.log.open("rb") as log:
            log.seek(logged_before)
            if any(line.startswith(_LISTENS) for line in log):
                return True
        if child.exit_code is not None:
            return False
        await asyncio.sleep(POLL_SECONDS)
    return False
