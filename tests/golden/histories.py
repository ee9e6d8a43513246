"""Golden histories: whole tables as the log stored them, an event a line, and how they ended in the first line."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec

from baohuang.eventlog import chain
from baohuang.eventlog.codec import encode
from baohuang.eventlog.port import (
    Actor,
    Append,
    NewEvent,
    Position,
    RequestId,
    StoredEvent,
    StreamId,
    Version,
)
from baohuang.handrecord import HandResult, RecordedEvent, result_of
from baohuang.rules import commands as cmd
from baohuang.rules.events import Event
from baohuang.rules.state import Instant, Table
from handrecord.hands import cut

FOLDER: Final = Path(__file__).parent / "tables"
DIGESTS: Final = Path(__file__).parent / "digests.txt"
"""SHA-256 of every file, as sha256sum writes it. Lines are added to it, and never changed or taken away."""


class Row(msgspec.Struct, frozen=True, rename="camel"):
    """One event as it was stored, hash and salt in hex."""

    version: int
    type: str
    at: str
    actor: str
    request_id: str
    salt: str
    hash: str
    data: msgspec.Raw


class Ending(msgspec.Struct, frozen=True, rename="camel"):
    """How a table was when it was recorded: what a replay must give for ever."""

    table: str
    ruleset: str
    version: int
    status: str
    seats: tuple[str, ...]
    hands: tuple[HandResult, ...]


@dataclass(frozen=True, slots=True)
class History:
    """A table's stored events, and how it ended."""

    ending: Ending
    stored: Sequence[StoredEvent]


def read_history(path: Path) -> History:
    """Read a file."""
    first, *rows = path.read_bytes().splitlines()
    ending = msgspec.json.decode(first, type=Ending)
    stored = [_stored(StreamId(ending.table), msgspec.json.decode(row, type=Row)) for row in rows]
    return History(ending, stored)


def written(ending: Ending, stored: Iterable[StoredEvent]) -> bytes:
    """Return the text of a file."""
    lines = [ending, *map(_row, stored)]
    return b"".join(msgspec.json.encode(line) + b"\n" for line in lines)


def ending_of(table: Table, recorded: list[RecordedEvent]) -> Ending:
    """Return how a table ended whose whole history this is."""
    return Ending(
        table=table.table_id,
        ruleset=table.ruleset.id,
        version=table.version,
        status=table.status.value,
        seats=tuple(taken.player for taken in table.seats),
        hands=tuple(map(result_of, cut(recorded))),
    )


def stored_by(stream_id: StreamId, commands: Iterable[tuple[cmd.Command, tuple[Event, ...]]]) -> Sequence[StoredEvent]:
    """Return what a log would have stored of these commands, each salt made of its place."""
    stored: list[StoredEvent] = []
    for command, events in commands:
        append = _append(stream_id, stored, command, events)
        salts = [sha256(f"{stream_id}/{len(stored) + place}".encode()).digest()[:16] for place in range(len(events))]
        stored += chain.store(append, chain.link(append, salts), Position(len(stored)))
    return stored


def _append(
    stream_id: StreamId, before: Sequence[StoredEvent], command: cmd.Command, events: tuple[Event, ...]
) -> Append:
    tip = chain.start(stream_id)
    return Append(
        stream_id=stream_id,
        expected_version=Version(len(before)),
        expected_hash=before[-1].hash if before else tip.hash,
        events=tuple(NewEvent(*encode(event)) for event in events),
        actor=Actor(command.player),
        request_id=RequestId(f"{stream_id}/{len(before)}"),
        request_digest=b"",
        recorded_at=datetime.fromisoformat(command.at),
        outcome=b"{}",
    )


def _row(one: StoredEvent) -> Row:
    moment = chain.instant(one.recorded_at)
    return Row(
        one.version, one.type, moment, one.actor, one.request_id, one.salt.hex(), one.hash.hex(), msgspec.Raw(one.data)
    )


def _stored(stream_id: StreamId, row: Row) -> StoredEvent:
    return StoredEvent(
        Position(row.version), stream_id, Version(row.version), row.type, bytes(row.data), Actor(row.actor),
        RequestId(row.request_id), datetime.fromisoformat(Instant(row.at)), bytes.fromhex(row.salt),
        bytes.fromhex(row.hash),
    )  # fmt: skip
