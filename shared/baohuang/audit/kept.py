"""A checkpoint kept in a file: its statement and signature on the first line, then each stream's end on one of its own.

    {"statement":{"keyId":"…","madeAt":"…","position":4711,"previous":"…","root":"…","streams":2},"signature":"…"}
    ["player:an",3,"…"]
    ["table-1",412,"…"]

The root over the lines has to be the one that is signed, so the whole file is. Read and written line by line.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final, TextIO

import msgspec
from msgspec import Struct

from baohuang.audit.checkpoints import Checkpoint, Statement, StreamEnd
from baohuang.eventlog.port import Position, StreamId, Version
from baohuang.rpc.keys import KeyId

_HASH_BYTES: Final = 32


class KeptFileError(Exception):
    """The file is not of this form; the message names the line."""


class _Statement(Struct, rename="camel"):
    key_id: str
    made_at: datetime
    position: int
    previous: str
    root: str
    streams: int


class _First(Struct):
    statement: _Statement
    signature: str


_first: Final = msgspec.json.Decoder(_First)
_end: Final = msgspec.json.Decoder(tuple[str, int, str])


def write_first(file: TextIO, checkpoint: Checkpoint) -> None:
    """Write the first line of a checkpoint."""
    signature = checkpoint.signature.hex()
    file.write(f'{{"statement":{checkpoint.statement.text.decode()},"signature":"{signature}"}}\n')


def write_end(file: TextIO, end: StreamEnd) -> None:
    """Write the line of one stream."""
    file.write(msgspec.json.encode((end.stream_id, end.version, end.hash.hex())).decode() + "\n")


def read_first(file: TextIO) -> Checkpoint:
    """Read the first line. Raises KeptFileError."""
    try:
        return _checkpoint(file.readline())
    except ValueError as error:
        raise KeptFileError(f"line 1 is no checkpoint: {error}") from error


def read_ends(file: TextIO) -> Iterator[StreamEnd]:
    """Read the lines behind the first. Raises KeptFileError."""
    for number, line in enumerate(file, 2):
        try:
            yield _stream_end(line)
        except ValueError as error:
            raise KeptFileError(f"line {number} is no end of a stream: {error}") from error


def _checkpoint(line: str) -> Checkpoint:
    first = _first.decode(line)
    said = first.statement
    statement = Statement(
        Position(said.position),
        said.made_at.astimezone(UTC),
        said.streams,
        bytes.fromhex(said.root),
        bytes.fromhex(said.previous),
        KeyId(said.key_id),
    )
    return Checkpoint(statement, bytes.fromhex(first.signature))


def _stream_end(line: str) -> StreamEnd:
    stream_id, version, hash_ = _end.decode(line)
    end = StreamEnd(StreamId(stream_id), Version(version), bytes.fromhex(hash_))
    if len(end.hash) != _HASH_BYTES or end.version < 1:
        raise ValueError("a stream's end is its id, a version from 1 on, and a hash of 32 bytes")
    return end
