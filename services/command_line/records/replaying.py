"""`baohuang replay`: step through a finished hand, forwards and backwards, as anybody saw it."""

import os
import sys
from asyncio import run
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final, NoReturn

import asyncpg
import typer
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from baohuang.eventlog.json_codec import CodecError
from baohuang.eventlog.port import LogUnavailable
from baohuang.handrecord import HandRecord, MalformedRecord, NoSuchHand, StillPlayed, read_record
from baohuang.rules.state import TableId
from command_line.audit.asking import UNKNOWN
from command_line.dsn import sound_dsn
from command_line.play.keyboard import unbuffered_terminal
from command_line.records.browsing import HELP, Browser, keys_in, rulings_in
from command_line.records.export import record_in_log
from command_line.records.frames import VIEWS, Frame, document, frames_of, line, picture
from command_line.saying import complain, say

_WIDE: Final = 200
_CHUNK: Final = 4096


def replay(
    source: Annotated[str, typer.Argument(metavar="FILE|TABLE", help="a record's file, else a table's id in the log")],
    *,
    hand: Annotated[int | None, typer.Option(min=1, help="of a table: the hand's number, by default the last")] = None,
    view: Annotated[str, typer.Option(help=f"whose view: one of {', '.join(VIEWS)}")] = "all",
    at: Annotated[int | None, typer.Option(help="begin at this version; where there is no terminal, show it")] = None,
    ruling: Annotated[int | None, typer.Option(min=1, help="the same with the first, second, … ruling")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object an event; no terminal needed")] = False,
    postgres_dsn: Annotated[
        str | None,
        typer.Option(
            "--postgres-dsn",
            envvar="BAOHUANG_POSTGRES_DSN",
            callback=sound_dsn,
            help="the backend's database, for a TABLE",
        ),
    ] = None,
) -> None:
    """Step through a finished hand on a terminal; elsewhere print a line an event.

    Exits with 1 if there is no such hand or the file is no record of one, 2 if that cannot be told.
    """
    if view not in VIEWS:
        raise typer.BadParameter(f"{view!r} is not one of {', '.join(VIEWS)}", param_hint="--view")
    record = _record(source, hand, postgres_dsn)
    frames = _frames(record, view)
    console = Console(highlight=False) if sys.stdout.isatty() else Console(highlight=False, width=_WIDE)
    start = _start(frames, at, ruling)
    if as_json:
        for frame in frames if start is None else (frames[start],):
            say(document(frame).decode())
    elif console.is_terminal and sys.stdin.isatty():
        _browse(console, record, Browser(frames, view, start or 0))
    elif start is None:
        for frame in frames:
            console.print(Text(line(frame)), soft_wrap=True)
    else:
        console.print(picture(frames[start]))


def _record(source: str, hand: int | None, dsn: str | None) -> HandRecord:
    path = Path(source)
    try:
        if path.is_file():
            return read_record(path.read_bytes())
        if dsn is None:
            raise typer.BadParameter("there is no such file; for a table say --postgres-dsn", param_hint="FILE|TABLE")
        return run(record_in_log(dsn, TableId(source), hand))
    except (MalformedRecord, NoSuchHand, StillPlayed) as error:
        _fail(str(error), 1)
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, LogUnavailable, CodecError) as error:
        _fail(f"cannot tell: {error}", UNKNOWN)


def _frames(record: HandRecord, view: str) -> Sequence[Frame]:
    try:
        return frames_of(record, view)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--view") from None


def _start(frames: Sequence[Frame], version: int | None, ruling: int | None) -> int | None:
    """Return the place of the wanted frame, None if none is wanted."""
    if version is not None and ruling is not None:
        raise typer.BadParameter("goes without --at", param_hint="--ruling")
    if version is not None:
        first, last = frames[0].version, frames[-1].version
        if not first <= version <= last:
            raise typer.BadParameter(f"the hand has versions {first} to {last}", param_hint="--at")
        return version - first
    if ruling is None:
        return None
    places = rulings_in(frames)
    if ruling > len(places):
        raise typer.BadParameter(f"the hand has {len(places)} rulings", param_hint="--ruling")
    return places[ruling - 1]


def _browse(console: Console, record: HandRecord, browser: Browser) -> None:
    with unbuffered_terminal(), Live(console=console, screen=True, auto_refresh=False) as live:
        while not browser.has_quit:
            live.update(_page(browser), refresh=True)
            typed = os.read(sys.stdin.fileno(), _CHUNK)
            for key in keys_in(typed or b"\x04"):
                _press(browser, key, record)
    console.print(Text(line(browser.frame)), soft_wrap=True)


def _press(browser: Browser, key: str, record: HandRecord) -> None:
    """Press a key; a view that the record cannot give leaves everything as it is."""
    before = browser.view
    browser.press(key)
    if browser.view != before:
        try:
            browser.frames = frames_of(record, browser.view)
        except ValueError:
            browser.view = before


def _page(browser: Browser) -> Group:
    where = f"{browser.index + 1} of {len(browser.frames)} · view {browser.view}"
    asked = "" if browser.goto is None else f" · version {browser.goto}_"
    said = f" · {browser.said}" if browser.said else ""
    return Group(picture(browser.frame), Text(where + asked + said, style="bold"), Text(HELP, style="dim"))


def _fail(why: str, code: int) -> NoReturn:
    complain(f"replay: {why}")
    raise typer.Exit(code)
