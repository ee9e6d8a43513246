"""The document's form: what stands around the events, and what its readers agree on. See docs/hand-record.md."""

from typing import Final

import msgspec

from baohuang.handrecord.record import HandRecord, HandResult, Variant, result_of

FORMAT: Final = "baohuang-hand"
VERSION: Final = 1
"""The version that this release writes, and the only one it reads."""
MOST_BYTES: Final = 4 << 20
"""The longest document that is read, in bytes: a hundred long hands."""


class Label(msgspec.Struct, frozen=True):
    """What says which form the rest has: all that is read of a document at first."""

    format: str
    version: int


class Entry(msgspec.Struct, frozen=True):
    """One event; `data` is the canonical proto3 JSON of the message `type` in `baohuang/events/v1`."""

    version: int
    at: str
    type: str
    data: msgspec.Raw


class Heading(msgspec.Struct, frozen=True, rename="camel"):
    """What a reader wants to know before the events, every key always there; all of it follows from them."""

    table: str
    hand: int
    ruleset: str
    players: tuple[str, ...]
    started_at: str
    finished_at: str
    result: HandResult


class Document(Heading, frozen=True, rename="camel", kw_only=True):
    """The whole document, its label apart."""

    variant: Variant
    events: tuple[Entry, ...]


def heading_of(record: HandRecord) -> Heading:
    """Return what the events say of the hand as a whole. Raises ValueError for a hand that did not end."""
    started = record.started
    return Heading(
        table=started.table_id,
        hand=started.hand,
        ruleset=started.ruleset,
        players=started.players,
        started_at=record.events[0].at,
        finished_at=record.events[-1].at,
        result=result_of(record),
    )
