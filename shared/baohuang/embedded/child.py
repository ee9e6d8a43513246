"""One child process: started apart from our terminal, ended in order, and not outliving us where that can be had."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from baohuang.embedded import launcher
from baohuang.embedded.account import Account
from baohuang.embedded.errors import ServerDied

POLL_SECONDS = 0.02
LOG_TAIL_LINES = 20


@dataclass(frozen=True, slots=True)
class Program:
    """What to run and how: `arguments` begin with the absolute path of the program.

    `log` takes stdout and stderr; `on_orphaned` is sent to it when we die first (Linux).
    """

    name: str
    arguments: Sequence[str]
    log: Path
    cwd: Path
    environment: Mapping[str, str]
    account: Account
    on_orphaned: signal.Signals


class Child:
    """A running `Program`."""

    def __init__(self, program: Program, process: subprocess.Popen[bytes]) -> None:
        self.program = program
        self._process = process

    @classmethod
    def start(cls, program: Program) -> "Child":
        """Start it in a session of its own, so that Ctrl-C in our terminal does not reach it.

        A program that cannot be run ends with a traceback in its log.
        """
        with program.log.open("ab") as log:
            process = subprocess.Popen(  # noqa: S603 - our own binaries and arguments
                _launch(program),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=program.cwd,
                env=dict(program.environment),
                start_new_session=True,
            )
        return cls(program, process)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs; a negative number is the signal that ended it."""
        return self._process.poll()

    def send(self, number: signal.Signals) -> None:
        """Send a signal; nothing happens when it has ended."""
        self._process.send_signal(number)

    async def wait(self) -> int:
        """Wait for its end and give the exit code."""
        while (code := self.exit_code) is None:  # noqa: ASYNC110 - nothing tells of a child's end on every loop and system
            await asyncio.sleep(POLL_SECONDS)
        return code

    async def stop(self, steps: Sequence[tuple[signal.Signals, float]]) -> int:
        """Send each signal and give it so many seconds, then SIGKILL. Gives the exit code."""
        for number, seconds in steps:
            self.send(number)
            try:
                return await asyncio.wait_for(self.wait(), seconds)
            except TimeoutError:
                continue
        self.send(signal.SIGKILL)
        return await self.wait()

    def died(self) -> ServerDied:
        """Build the error that tells its fate and the tail of its log."""
        return ServerDied(self.program.name, self.exit_code, log_tail(self.program.log))


def log_tail(path: Path, lines: int = LOG_TAIL_LINES) -> str:
    """Give the last lines of a log file, of at most 64 KiB; empty when there is none."""
    if not path.exists():
        return ""
    with path.open("rb") as log:
        log.seek(max(0, path.stat().st_size - 65536))
        return "\n".join(log.read().decode(errors="replace").splitlines()[-lines:])


def _launch(program: Program) -> list[str]:
    """Give the command that becomes `program`, see `launcher`."""
    account = program.account
    numbers = (os.getpid(), int(program.on_orphaned), account.uid, account.gid)
    return [sys.executable, "-I", "-S", launcher.__file__, *map(str, numbers), *program.arguments]
