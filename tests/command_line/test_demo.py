"""`baohuang demo` as a user runs it: a process, judged by what it prints and by its exit code."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Final

import pytest

from baohuang.rules.deal import commitment_to
from command_line.demo.stage import PLAYERS
from table_service.seeds import DevelopmentSeeds
from up.running import processes

_SECONDS: Final = 120
_OK: Final = re.compile(r"demo: OK (\d+) events, chain verified, points(?: -?\d+){5}")


STEPS: Final = ["services", "tickets", "match", "hand", "history", "score", "ratings", "leaderboard", "checked"]


def _demo(*options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command with nothing of ours in its environment but what is given, and return what came of it."""
    return subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "command_line", "demo", *options],
        env={**_environment(), **environment},
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )


def _environment() -> dict[str, str]:
    return {name: text for name, text in os.environ.items() if not name.startswith("BAOHUANG_")}


@pytest.mark.parametrize(("ruleset", "seed"), [("ourgame-simple", 7)])
def test_a_hand_is_played_shown_and_verified(ruleset: str, seed: int, tmp_path: Path) -> None:
    """From tickets to the ladder, with every event in the history and the ledger's points; nothing is left (FAIR-1)."""
    done = _demo("--ruleset", ruleset, "--seed", str(seed), TMPDIR=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    verdict = _OK.fullmatch(lines[-1])
    assert verdict, lines[-1]
    assert sum(map(int, lines[-1].split()[-5:])) == 0
    assert [int(line.split()[0]) for line in lines if re.match(r" *\d+  \d\d:\d\d:", line)] == list(
        range(1, int(verdict[1]) + 1)
    )
    assert any(line.startswith("皇 ") and " plays " in line for line in lines)
    assert "\x1b" not in done.stdout
    committed = commitment_to(bytes.fromhex(DevelopmentSeeds(seed).seed_for(None)))
    assert any(f"hand 1, deal 1: {committed[:16]}" in line for line in lines)
    assert [line.split()[1] for line in lines if line.startswith("▌")] == STEPS
    assert points_told(lines) == {seat: int(points) for seat, points in enumerate(lines[-1].split()[-5:])}
    assert sorted(line.split()[1] for line in rows_of(lines, "leaderboard")) == sorted(PLAYERS)
    assert list(tmp_path.iterdir()) == []


def rows_of(lines: list[str], step: str) -> list[str]:
    """Return the rows of a step's table, without its heading."""
    begun = next(at for at, line in enumerate(lines) if line.startswith(f"▌ {step}"))
    told = lines[begun + 1 :]
    rule = next(at for at, line in enumerate(told) if "───" in line)
    return list(takewhile(str.strip, told[rule + 1 :]))


def points_told(lines: list[str]) -> dict[int, int]:
    """Return the points of the ledger by seat; who had none before has as many on his account."""
    rows = [row.split() for row in rows_of(lines, "score")]
    assert all(row[-1] == row[-2] for row in rows)
    return {int(row[0]): int(row[-2]) for row in rows}


def test_a_ruleset_that_does_not_exist_is_refused_at_once() -> None:
    """A wrong option is told on standard error, by what there is instead."""
    done = _demo("--ruleset", "bridge")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "ourgame-simple" in done.stderr


def test_a_backend_that_cannot_start_fails_the_demo(tmp_path: Path) -> None:
    """Standard error says why, the exit code is 1, nothing claims to be OK, and nothing is left behind."""
    done = _demo(TMPDIR=str(tmp_path), BAOHUANG_LOG_LEVEL="LOUD")
    assert done.returncode == 1
    assert done.stderr.startswith("demo: FAILED ")
    assert "demo: OK" not in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_service_killed_in_mid_hand_fails_the_demo(tmp_path: Path) -> None:
    """The demo notices at once that its service is gone, instead of waiting for its bound."""
    with _in_mid_hand(tmp_path) as demo:
        (pid,) = tmp_path.glob("*/table/pid")
        os.kill(int(pid.read_text()), signal.SIGKILL)
        _fails_and_cleans_up(demo, tmp_path)


@pytest.mark.parametrize("number", [signal.SIGINT])
def test_a_demo_told_to_stop_leaves_nothing_behind(number: signal.Signals, tmp_path: Path) -> None:
    """However it is stopped, its servers end, its folder goes, and the exit code is not zero."""
    with _in_mid_hand(tmp_path) as demo:
        assert processes(tmp_path)
        elsewhere = [link.resolve().parent for link in tmp_path.glob("*/*") if link.is_symlink()]
        demo.send_signal(number)
        _fails_and_cleans_up(demo, tmp_path)
        assert not processes(tmp_path)
        assert not any(folder.exists() for folder in elsewhere)


@contextmanager
def _in_mid_hand(folder: Path) -> Iterator["subprocess.Popen[str]"]:
    """Start a slow demo in the folder and wait for its first plays; told to stop at exit, if it still runs."""
    demo = subprocess.Popen(
        [sys.executable, "-m", "command_line", "demo", "--pace", "0.2"],
        env={**_environment(), "TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert demo.stdout is not None
    try:
        while "plays" not in (line := demo.stdout.readline()):
            assert line
        yield demo
    finally:
        demo.terminate()
        demo.communicate()


def _fails_and_cleans_up(demo: "subprocess.Popen[str]", folder: Path) -> None:
    rest, complaint = demo.communicate(timeout=30)
    assert demo.returncode not in {0, None}
    assert complaint.startswith("demo: FAILED ")
    assert "demo: OK" not in rest
    assert list(folder.iterdir()) == []
