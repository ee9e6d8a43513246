"""Subjects and payloads of the pokes: one module, so that both ends agree.

    baohuang.v1.poke.table.<table id>   the table has reached a version     {"version":42}
    baohuang.v1.poke.seat.<table id>    a player opened a stream of it       {"player":"an","stream":"0190…"}
    baohuang.v1.poke.source.<stream>    a stream's source has more           nothing, or "hurry" (and see `traces`)

They go over core NATS: nothing is kept, and what is lost is found by polling the log. Anybody may hear them: they hold
nothing that is hidden from anybody at the table.
"""

from typing import Final, TypeVar

import msgspec

from baohuang.eventlog.port import Version
from baohuang.rules.state import PlayerId, TableId

_POKE: Final = "baohuang.v1.poke."
_TABLE: Final = f"{_POKE}table."
_SEAT: Final = f"{_POKE}seat."
_SOURCE: Final = f"{_POKE}source."
ALL_POKES: Final = f"{_POKE}>"
ALL_TABLES: Final = f"{_TABLE}*"
ALL_SEATS: Final = f"{_SEAT}*"


class TablePoke(msgspec.Struct, frozen=True):
    """A table has reached this version."""

    version: Version


class SeatPoke(msgspec.Struct, frozen=True):
    """A player who has a seat at the table opened this stream of it."""

    player: PlayerId
    stream: str


def table_subject(table_id: TableId) -> str:
    """Return where pokes of a table go."""
    return f"{_TABLE}{table_id}"


def seat_subject(table_id: TableId) -> str:
    """Return where the streams of a table's players are told."""
    return f"{_SEAT}{table_id}"


def source_subject(stream: str) -> str:
    """Return where it is told that the source of a JetStream stream has more."""
    return f"{_SOURCE}{stream}"


def table_id_of(subject: str) -> TableId:
    """Return the table that a subject is about: its last token."""
    return TableId(subject.rpartition(".")[2])


def encode(poke: TablePoke | SeatPoke) -> bytes:
    """Return the payload."""
    return msgspec.json.encode(poke)


def table_poke(payload: bytes) -> TablePoke | None:
    """Read a payload, None if it is none: the subject is open to whoever has access to the NATS."""
    return _read(payload, TablePoke)


def seat_poke(payload: bytes) -> SeatPoke | None:
    """Read a payload, None if it is none."""
    return _read(payload, SeatPoke)


_Poke = TypeVar("_Poke", TablePoke, SeatPoke)


def _read(payload: bytes, kind: type[_Poke]) -> _Poke | None:
    try:
        return msgspec.json.decode(payload, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
