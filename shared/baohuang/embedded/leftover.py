"""A server that outlived the process which started it: found by its pid file, and stopped.

A pid file proves little (the number may be another process's by now), so a process counts as the leftover only when
its command line names the server's own data folder.
"""

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from baohuang.embedded.child import POLL_SECONDS
from baohuang.embedded.errors import EmbeddedServerError


async def stop_leftover(pid_file: Path, marker: str, steps: Sequence[tuple[signal.Signals, float]]) -> None:
    """Stop the server that `pid_file` names, when its command line has `marker`; else remove the stale file.

    Sends each signal of `steps` and waits so many seconds, then SIGKILL. Raises EmbeddedServerError if it lives on.
    """
    pid = _read_pid(pid_file)
    if pid is None:
        return
    for number, seconds in (*steps, (signal.SIGKILL, 5.0)):
        if not _is_ours(pid, marker):
            _remove(pid_file)
            return
        with suppress(ProcessLookupError):
            os.kill(pid, number)
        await _ended(pid, marker, seconds)
    if _is_ours(pid, marker):
        raise EmbeddedServerError(f"process {pid}, left by an earlier run, cannot be stopped")


def command_line(pid: int) -> str:
    """Give the command line of process `pid`, its arguments parted by spaces; empty if it is none or a zombie."""
    if Path("/proc/self/cmdline").exists():
        try:
            return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            return ""
    shown = subprocess.run(  # noqa: S603 - a number of ours
        ["ps", "-ww", "-o", "command=", "-p", str(pid)],  # noqa: S607 - wherever this system has it
        capture_output=True,
        text=True,
        check=False,
    )
    return shown.stdout.strip()


def _is_ours(pid: int, marker: str) -> bool:
    return marker in command_line(pid)


async def _ended(pid: int, marker: str, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while _is_ours(pid, marker) and time.monotonic() < deadline:  # noqa: ASYNC110 - not our child: no event tells
        await asyncio.sleep(POLL_SECONDS)


def _remove(pid_file: Path) -> None:
    pid_file.unlink(missing_ok=True)


def _read_pid(pid_file: Path) -> int | None:
    """Give the number on the first line, if there is a file and a number."""
    if not pid_file.exists():
        return None
    first = pid_file.read_text().partition("\n")[0].strip()
    return int(first) if first.isdigit() else None
