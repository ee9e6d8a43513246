"""The events of the ledger. Each class is the message of the same name in `baohuang/scoring/v1`, which documents it.

Every posting of the ledger is one of them, numbered 1, 2, 3, … in the order of the table service's log.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Final, NewType, get_args

from baohuang.eventlog.json_codec import Codec
from baohuang.rules.rulesets import Options
from baohuang.rules.settlement import Solo
from baohuang.rules.state import FineReason, Instant, PlayerId, TableId

PostingNumber = NewType("PostingNumber", int)
"""Place of a posting in the ledger, from 1, without holes; 0 is before the first."""

NO_POSTING: Final = PostingNumber(0)


class Role(Enum):
    """What a seat was in a hand."""

    EMPEROR = "ROLE_EMPEROR"
    GUARD = "ROLE_GUARD"
    REBEL = "ROLE_REBEL"


@dataclass(frozen=True, slots=True)
class SeatScore:
    """One seat's part in a scored hand."""

    seat: int
    player: PlayerId
    role: Role | None
    place: int | None
    base_points: int
    points: int


@dataclass(frozen=True, slots=True)
class Doubling:
    """Something that multiplied the points of a hand."""

    rule: str
    reason: str
    factor: int


@dataclass(frozen=True, slots=True)
class HandScored:
    """A hand was scored (section 5), or recorded as void."""

    posting: PostingNumber
    table_id: TableId
    hand: int
    version: int
    finished_at: Instant
    ruleset: str
    options: Options
    seats: tuple[SeatScore, ...]
    rule: str
    doublings: tuple[Doubling, ...]
    solo: Solo | None
    open_guard: bool
    revolt: bool
    kicked: bool
    surrendered: bool
    void: bool
    reverses: int | None = None
    """The version of the HandVoided that was taken back: this counts, and not the void score before it (RULE-1)."""


@dataclass(frozen=True, slots=True)
class FinePosted:
    """A fine was booked from a player to the house (FINE-2, FINE-4)."""

    posting: PostingNumber
    table_id: TableId
    version: int
    fined_at: Instant
    player: PlayerId
    points: int
    reason: FineReason
    rule: str


@dataclass(frozen=True, slots=True)
class FineReturned:
    """A fine that was taken back was booked from the house to the player (RULE-1)."""

    posting: PostingNumber
    table_id: TableId
    version: int
    returned_at: Instant
    player: PlayerId
    points: int
    reverses: int
    rule: str


@dataclass(frozen=True, slots=True)
class PostingSkipped:
    """An operator left a posting empty, its event being one that could not be scored."""

    posting: PostingNumber
    table_id: TableId
    version: int
    happened_at: Instant
    reason: str


Booked = HandScored | FinePosted | FineReturned
"""What follows from an event of the log."""
Posted = Booked | PostingSkipped

POSTED_TYPES: Final[Mapping[str, type[Posted]]] = MappingProxyType({cls.__name__: cls for cls in get_args(Posted)})
"""The classes by name, which is the type that a posting is stored and published under."""

CODEC: Final = Codec[Posted](POSTED_TYPES)
"""Writes them as canonical proto3 JSON, and reads them."""
