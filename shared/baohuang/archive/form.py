"""The form of an archive: gzip over JSON, an object a line, in this order.

    {"kind":"table","format":"baohuang/archive/v1","stream":…,"version":…,"hash":…,"summary":…}
    {"kind":"event","position":…,"version":…,"type":…,"recordedAt":…,"actor":…,"requestId":…,"salt":…,"hash":…,
     "data":…}
    {"kind":"reply","actor":…,"requestId":…,"version":…,"digest":…,"outcome":…}
    {"kind":"end","events":…,"replies":…,"sha256":…}

Events are all of the stream's, by version; replies are those to the commands that they came of. A finished table
holds no names and waits for no deadline, so there are none. Hashes, salts and digests are lower-case hex. The last line
has the SHA-256 of all lines before it, so a file that was cut or changed shows it; that the record in it is the one
that was played, the chain of its events shows.
"""

import gzip
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Final

import msgspec
from msgspec import Struct

from baohuang.eventlog.chain import instant
from baohuang.eventlog.port import (
    Actor,
    Duplicate,
    Position,
    RequestId,
    StoredEvent,
    StreamId,
    Version,
)

FORMAT: Final = "baohuang/archive/v1"
_LONGEST_LINE: Final = 4 * 1024 * 1024


class ArchiveError(Exception):
    """The file is not a whole archive; the message names the line."""


class TableLine(Struct, frozen=True, tag="table", tag_field="kind"):
    """Which stream it is, where it ends, and its summary."""

    format: str
    stream: StreamId
    version: Version
    hash: str
    summary: msgspec.Raw


class EventLine(Struct, frozen=True, tag="event", tag_field="kind", rename="camel"):
    """An event as it is stored."""

    position: Position
    version: Version
    type: str
    recorded_at: str
    actor: Actor
    request_id: RequestId
    salt: str
    hash: str
    data: msgspec.Raw


class ReplyLine(Struct, frozen=True, tag="reply", tag_field="kind", rename="camel"):
    """What a command was answered."""

    actor: Actor
    request_id: RequestId
    version: Version
    digest: str
    outcome: msgspec.Raw


class EndLine(Struct, frozen=True, tag="end", tag_field="kind"):
    """How many lines there are of both, and the SHA-256 of all before this one."""

    events: int
    replies: int
    sha256: str


Line = TableLine | EventLine | ReplyLine | EndLine
_decode: Final = msgspec.json.Decoder(Line).decode
_encode: Final = msgspec.json.Encoder().encode
_ORDER: Final = (TableLine, EventLine, ReplyLine, EndLine)
_UNREADABLE: Final = (OSError, EOFError, zlib.error)
"""What gzip raises for a file that is none, was cut, or was changed."""


def event_line(event: StoredEvent) -> EventLine:
    """Return the line of an event."""
    return EventLine(
        event.position,
        event.version,
        event.type,
        instant(event.recorded_at),
        event.actor,
        event.request_id,
        event.salt.hex(),
        event.hash.hex(),
        msgspec.Raw(event.data),
    )


def reply_line(actor: Actor, request_id: RequestId, reply: Duplicate) -> ReplyLine:
    """Return the line of a command's reply."""
    digest, outcome = reply.request_digest.hex(), msgspec.Raw(reply.outcome)
    return ReplyLine(actor, request_id, reply.version, digest, outcome)


def stored(stream_id: StreamId, line: EventLine) -> StoredEvent:
    """Return the event of a line. Raises ValueError for hex or an instant that is none, or not of the form it has."""
    recorded_at = datetime.fromisoformat(line.recorded_at).replace(tzinfo=UTC)
    if instant(recorded_at) != line.recorded_at:
        raise ValueError(f"recordedAt {line.recorded_at!r} is not an instant in UTC with six decimals and Z")
    return StoredEvent(
        line.position,
        stream_id,
        line.version,
        line.type,
        bytes(line.data),
        line.actor,
        line.request_id,
        recorded_at,
        bytes.fromhex(line.salt),
        bytes.fromhex(line.hash),
    )


class ArchiveWriter:
    """Writes lines to a file, the last one by itself."""

    def __init__(self, file: BinaryIO) -> None:
        # Neither name nor time stand in it: the same record gives the same bytes.
        self._packed: Final = gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0)
        self._hash: Final = sha256()
        self._events = 0
        self._replies = 0

    def add(self, line: TableLine | EventLine | ReplyLine) -> None:
        """Write the next line."""
        self._write(line)
        self._events += isinstance(line, EventLine)
        self._replies += isinstance(line, ReplyLine)

    def close(self) -> None:
        """Write the last line; the file stays open."""
        self._write(EndLine(self._events, self._replies, self._hash.hexdigest()))
        self._packed.close()

    def _write(self, line: Line) -> None:
        text = _encode(line) + b"\n"
        self._hash.update(text)
        self._packed.write(text)


def read_archive(path: Path) -> Iterator[TableLine | EventLine | ReplyLine]:
    """Give a file's lines but the last. Raises ArchiveError where it is not whole: at the end, if it is the sum."""
    digest, kind, counts = sha256(), 0, {EventLine: 0, ReplyLine: 0}
    number = 0
    for number, text in enumerate(_texts(path), 1):
        line = _line(number, text)
        place = _ORDER.index(type(line))
        if place < kind or (place == 0) != (number == 1):
            raise ArchiveError(f"line {number} is out of place")
        kind = place
        if isinstance(line, EndLine):
            _check_end(line, digest.hexdigest(), (counts[EventLine], counts[ReplyLine]))
            continue
        digest.update(text)
        if type(line) in counts:
            counts[type(line)] += 1
        yield line
    if kind != _ORDER.index(EndLine):
        raise ArchiveError(f"the file was cut: line {number} is not its end")


def first_line(path: Path) -> TableLine:
    """Return the first line alone. Raises ArchiveError."""
    for line in read_archive(path):
        if isinstance(line, TableLine):
            return line
    raise ArchiveError("the file is empty")


def _texts(path: Path) -> Iterator[bytes]:
    try:
        with gzip.open(path, "rb") as file:
            while text := file.readline(_LONGEST_LINE):
                yield text
    except _UNREADABLE as error:
        raise ArchiveError(f"it cannot be read: {error}") from error


def _line(number: int, text: bytes) -> Line:
    try:
        line = _decode(text)
    except msgspec.DecodeError as error:
        raise ArchiveError(f"line {number}: {error}") from error
    if isinstance(line, TableLine) and line.format != FORMAT:
        raise ArchiveError(f"its form is {line.format!r}, which this release does not read")
    return line


def _check_end(line: EndLine, digest: str, counts: tuple[int, int]) -> None:
    if (line.events, line.replies) != counts:
        raise ArchiveError(f"it has {counts[0]} events and {counts[1]} replies, not {line.events} and {line.replies}")
    if line.sha256 != digest:
        raise ArchiveError("the sum in its last line is of something else: it was changed")
