"""The golden histories, as benches use them: tables of all rulesets, with rulings of every kind."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Final

import msgspec

from baohuang.eventlog.codec import decode
from baohuang.eventlog.port import (
    NO_HASH,
    NO_VERSION,
    Actor,
    Append,
    Appended,
    EventLog,
    NewEvent,
    RequestId,
    StreamId,
)
from baohuang.eventlog.summaries import new_summary
from baohuang.rules.evolve import fold
from baohuang.rules.state import Table

PLAYER: Final = re.compile(rb'"(an|bo|cai|du|en)"')
"""A player's name, in the data of an event."""
_FOLDER: Final = Path(__file__).parents[1] / "golden" / "tables"


class Row(msgspec.Struct, rename="camel", frozen=True):
    """One event of a golden history; salt and hash in hex."""

    version: int
    type: str
    at: str
    actor: str
    request_id: str
    salt: str
    hash: str
    data: msgspec.Raw


def read_tables() -> dict[str, Sequence[Row]]:
    """Return the events of each table by its name."""
    return {path.stem: _rows(path) for path in sorted(_FOLDER.glob("*.jsonl"))}


async def play_again(log: EventLog, copies: int) -> None:
    """Append all tables, command by command, under so many new names each: an honest log, chained anew."""
    tables = read_tables().items()
    await asyncio.gather(
        *(_append(log, name, f"{name}/{copy}", rows) for name, rows in tables for copy in range(copies))
    )


async def _append(log: EventLog, name: str, new_name: str, rows: Sequence[Row]) -> None:
    version, hash_ = NO_VERSION, NO_HASH
    table: Table | None = None
    for command in _commands(rows):
        first, before = command[0], table
        events = tuple(NewEvent(row.type, _renamed(row, name, new_name)) for row in command)
        table = fold((decode(event.type, event.data) for event in events), before)
        outcome = await log.append(
            Append(
                stream_id=StreamId(new_name),
                expected_version=version,
                expected_hash=hash_,
                events=events,
                actor=Actor(first.actor),
                request_id=RequestId(f"{new_name}/{version}"),
                request_digest=b"",
                recorded_at=datetime.fromisoformat(first.at),
                outcome=b"{}",
                summary=new_summary(before, table) if table else None,
            )
        )
        if not isinstance(outcome, Appended):
            raise TypeError(f"not appended: {outcome}")
        version, hash_ = outcome.version, outcome.hash


def _commands(rows: Sequence[Row]) -> Iterator[list[Row]]:
    for _, command in groupby(rows, lambda row: row.request_id):
        yield list(command)


def _renamed(row: Row, name: str, new_name: str) -> bytes:
    return bytes(row.data).replace(f'"{name}"'.encode(), f'"{new_name}"'.encode())


def _rows(path: Path) -> Sequence[Row]:
    _, *lines = path.read_bytes().splitlines()
    return [msgspec.json.decode(line, type=Row) for line in lines]
