import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from baohuang.embedded.account import Account
from baohuang.embedded.child import Child, Program, log_tail
from baohuang.embedded.leftover import command_line

STUBBORN = "import signal,time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"
OWNER = """
import os, signal, sys
from pathlib import Path
from baohuang.embedded.account import Account
from baohuang.embedded.child import Child, Program
folder = Path(sys.argv[1])
arguments = [sys.executable, "-c", sys.argv[2], str(folder)]
account = Account(os.geteuid(), os.getegid())
child = Child.start(Program("c", arguments, folder / "log", folder, dict(os.environ), account, signal.SIGKILL))
print(child.pid, flush=True)
signal.pause()
"""


def program(folder: Path, code: str) -> Program:
    account = Account(os.geteuid(), os.getegid())
    arguments = [sys.executable, "-c", code]
    return Program("child", arguments, folder / "log", folder, dict(os.environ), account, signal.SIGKILL)


async def test_stop_escalates_to_a_kill(tmp_path: Path) -> None:
    """A child that ignores the asked-for signal is killed when its time is up."""
    child = Child.start(program(tmp_path, STUBBORN))
    await eventually(lambda: "up" in log_tail(child.program.log))
    assert await child.stop([(signal.SIGTERM, 0.1)]) == -signal.SIGKILL


async def test_stopping_the_dead_gives_the_code_it_ended_with(tmp_path: Path) -> None:
    """A stop after the end changes nothing, and the end's code and last words are kept."""
    child = Child.start(program(tmp_path, "import sys; sys.exit('last words')"))
    assert await child.wait() == 1
    assert await child.stop([(signal.SIGTERM, 1)]) == 1
    assert str(child.died()) == "child ended with exit code 1:\nlast words"


async def test_a_program_that_is_not_there_says_so_in_its_log(tmp_path: Path) -> None:
    """The launcher's failure to become the program is the child's end, with the reason in the log."""
    child = Child.start(replace(program(tmp_path, ""), arguments=[str(tmp_path / "none")]))
    assert await child.wait() != 0
    assert "FileNotFoundError" in str(child.died())


def test_a_log_s_tail_is_bounded(tmp_path: Path) -> None:
    """The last lines only, of a log of any size, whatever bytes it holds."""
    log = tmp_path / "log"
    log.write_bytes(b"\xff" * 1_000_000 + b"\n" + b"".join(b"%d\n" % n for n in range(1000)))
    assert log_tail(log, lines=3) == "997\n998\n999"
    assert log_tail(tmp_path / "none") == ""


async def test_a_child_does_not_outlive_its_killed_owner(tmp_path: Path) -> None:
    """Kill -9 of the owner: the kernel sends the child the signal chosen for that (Linux)."""
    owner = await asyncio.create_subprocess_exec(
        sys.executable, "-c", OWNER, str(tmp_path), STUBBORN, stdout=asyncio.subprocess.PIPE
    )
    assert owner.stdout is not None
    pid = int(await asyncio.wait_for(owner.stdout.readline(), 20))
    assert str(tmp_path) in command_line(pid)
    owner.kill()
    await owner.wait()
    await eventually(lambda: command_line(pid) == "")


async def eventually(condition: Callable[[], bool]) -> None:
    """Wait until `condition` holds, for ten seconds at most."""
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)
