"""`baohuang export` and `baohuang replay` as operators run them."""

import asyncio
import json
import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from audit.honest import Play, Writer, recorded
from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import StreamId
from baohuang.eventlog.postgres.log import open_log
from baohuang.handrecord import NoSuchHand, StillPlayed, Variant, hand_of, public, read_record, write_record
from baohuang.rules.state import TableId
from command_line.main import app
from command_line.records.browsing import Browser, keys_in, rulings_in
from command_line.records.frames import VIEWS, frames_of
from handrecord.hands import a_record

TABLE = TableId("table")
_IN_MID_HAND = 30
"""Commands after which the hand is being played."""


async def _play(dsn: str) -> None:
    async with open_log(dsn) as log:
        await recorded(log, Play(TABLE, "homy-standard", 3, restless=0.0), hands=2)


def test_from_the_log_to_a_file_and_through_it(own_database_dsn: str, tmp_path: Path) -> None:
    """A hand is exported whole or for the public, to a new file only, and replayed from either file or the log."""
    asyncio.run(_play(own_database_dsn))
    runner, database = CliRunner(), ["--postgres-dsn", own_database_dsn]
    full, shown = tmp_path / "full.json", tmp_path / "public.json"
    assert runner.invoke(app, ["export", TABLE, "--hand", "1", "--output", str(full), *database]).exit_code == 0
    assert (
        runner.invoke(app, ["export", TABLE, "--hand", "1", "--public", "--output", str(shown), *database]).exit_code
        == 0
    )
    record = read_record(full.read_bytes())
    assert (record.variant, record.started.hand) == (Variant.FULL, 1)
    assert read_record(shown.read_bytes()) == public(record)
    again = runner.invoke(app, ["export", TABLE, "--output", str(full), *database])
    assert (again.exit_code, "exists already" in again.output) == (2, True)
    assert read_record(full.read_bytes()) == record
    last = runner.invoke(app, ["export", TABLE, *database])
    assert read_record(last.stdout_bytes).started.hand == 2
    for wanted in ([TABLE, "--hand", "9"], ["nowhere"]):
        refused = runner.invoke(app, ["export", *wanted, *database])
        assert (refused.exit_code, refused.stdout) == (1, "")
    lines = runner.invoke(app, ["replay", str(full)]).output.splitlines()
    assert [int(line.split()[0]) for line in lines] == [one.version for one in record.events]
    assert runner.invoke(app, ["replay", TABLE, "--hand", "1", *database]).output.splitlines() == lines
    assert runner.invoke(app, ["replay", TABLE, "--hand", "9", *database]).exit_code == 1
    for view in ("all", "public", "2"):
        steps = runner.invoke(app, ["replay", str(full), "--json", "--view", view]).output.splitlines()
        told = [json.loads(step) for step in steps]
        assert [step["version"] for step in told] == [one.version for one in record.events]
        assert [step["type"] for step in told] == [type(one.event).__name__ for one in record.events]
        assert any("hidden" in step["data"] for step in told) == (view != "public")
    (one,) = runner.invoke(app, ["replay", str(full), "--json", "--at", str(told[3]["version"])]).output.splitlines()
    assert json.loads(one)["version"] == told[3]["version"]


async def test_what_is_still_played_or_never_was() -> None:
    """Nobody gets the record of a hand before it is over; of a table that has none, that is said."""
    log = MemoryLog()
    with pytest.raises(NoSuchHand):
        await hand_of(log, TABLE)
    writer, playing = Writer(log, StreamId(TABLE)), Play(TABLE, "homy-standard", 3, restless=0.0)
    for number, (command, events) in enumerate(playing.commands(hands=1)):
        await writer.append(command.player, command.at, events)
        if number == _IN_MID_HAND:
            for wanted in (None, 1):
                with pytest.raises(StillPlayed):
                    await hand_of(log, TABLE, wanted)
    assert (await hand_of(log, TABLE)).started.hand == 1
    with pytest.raises(NoSuchHand, match="no finished hand 2"):
        await hand_of(log, TABLE, 2)


def test_a_picture_where_there_is_no_terminal(tmp_path: Path) -> None:
    """`--at` and `--ruling` show the board there; a seat's view shows its cards alone; what cannot be is refused."""
    file = tmp_path / "hand.json"
    record = a_record("homy-standard", "pictures")
    file.write_bytes(write_record(record))
    runner = CliRunner()
    middle = str(record.events[20].version)
    seen = runner.invoke(app, ["replay", str(file), "--at", middle, "--view", "2"]).output
    assert "player-2: " in seen
    assert "player-3: " not in seen
    everything = runner.invoke(app, ["replay", str(file), "--at", middle]).output
    assert all(f"player-{seat}: " in everything for seat in range(5))
    for wrong in (["--at", "9999"], ["--ruling", "99"], ["--view", "5"], ["--at", middle, "--ruling", "1"]):
        assert runner.invoke(app, ["replay", str(file), *wrong]).exit_code == 2
    file.write_bytes(write_record(public(record)))
    assert runner.invoke(app, ["replay", str(file), "--view", "2"]).exit_code == 2
    file.write_bytes(b"{}")
    malformed = runner.invoke(app, ["replay", str(file)])
    assert (malformed.exit_code, "format" in malformed.stderr) == (1, True)
    assert runner.invoke(app, ["replay", str(tmp_path / "none.json")]).exit_code == 2


def test_keys_go_everywhere() -> None:
    """Forwards, backwards, to the ends, to a version, from ruling to ruling; past an end one stays there."""
    record = next(
        record
        for record in (a_record("homy-standard", f"rulings {number}") for number in range(50))
        if len(rulings_in(frames_of(record, "all"))) > 1
    )
    frames = frames_of(record, "all")
    first, second, *_ = rulings_in(frames)
    browser = Browser(frames, "all")

    def at(typed: bytes) -> int:
        for key in keys_in(typed):
            browser.press(key)
        return browser.index

    assert at(b"\x1b[D") == 0
    assert at(b"\x1b[C ") == 2
    assert at(b"\x1b[F") == at(b" ") == len(frames) - 1
    assert at(b"\x1b[Hn") == first
    assert at(b"n") == second
    assert at(b"p") == first
    assert at(b"g%d\r" % frames[7].version) == 7
    beyond = frames[-1].version + 1
    assert at(b"g%d\r" % beyond) == 7
    assert browser.said == f"the hand has versions {frames[0].version} to {beyond - 1}"
    assert at(b"gx\x1b[H") == 0
    assert browser.said == ""
    assert at(b"2") == 0
    assert browser.view == "2"
    assert at(b"zz\x1b[5~") == 0
    at(b"q")
    assert browser.has_quit
    assert {view: len(frames_of(record, view)) for view in VIEWS} == dict.fromkeys(VIEWS, len(frames))


def test_on_a_terminal(tmp_path: Path) -> None:
    """On a terminal the board is drawn, keys move, and at the end the terminal is as it was."""
    file = tmp_path / "hand.json"
    file.write_bytes(write_record(a_record("homy-standard", "terminal")))
    ours, theirs = pty.openpty()
    child = subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-m", "command_line", "replay", str(file)], stdin=theirs, stdout=theirs, stderr=theirs,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "120", "LINES": "45"},
    )  # fmt: skip
    os.close(theirs)
    try:
        shown = _read_until(ours, b"1 of ")
        os.write(ours, b"\x1b[C\x1b[C")
        shown += _read_until(ours, b"3 of ")
        os.write(ours, b"q")
        assert child.wait(60) == 0
        assert "保皇".encode() in shown
    finally:
        child.kill()
        child.wait()
        os.close(ours)


def _read_until(terminal: int, text: bytes) -> bytes:
    deadline, shown = time.monotonic() + 60, b""
    while text not in shown:
        ready, _, _ = select.select([terminal], [], [], max(0.0, deadline - time.monotonic()))
        assert ready, shown
        shown += os.read(terminal, 4096)
    return shown
