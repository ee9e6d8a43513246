"""What is asked of the log's history. Filters that are set are met by everything that is found."""

import enum
from dataclasses import dataclass
from datetime import datetime

from baohuang.eventlog.port import NO_POSITION, Position, StoredEvent, StreamId, Version
from baohuang.rules.state import PlayerId


class Order(enum.Enum):
    """In which order, by position, events come."""

    OLDEST_FIRST = "asc"
    NEWEST_FIRST = "desc"


@dataclass(frozen=True, slots=True)
class EventsSought:
    """Which events: `since` is the first instant (aware), `until` the first one too late; both positions are outside.

    A page is gone on with by `after` the last position of the one before, newest first by `before` it.
    """

    stream_id: StreamId | None = None
    player: PlayerId | None = None
    """Whose command brought it about, or whom it names."""
    types: tuple[str, ...] = ()
    """None: of all types."""
    rulings: bool = False
    """Only rulings."""
    since: datetime | None = None
    until: datetime | None = None
    after: Position = NO_POSITION
    before: Position | None = None


@dataclass(frozen=True, slots=True)
class RulingsSought:
    """Which rulings: as `EventsSought`, newest first, gone on with by `before` the last position of a page."""

    stream_id: StreamId | None = None
    player: PlayerId | None = None
    """Whom it is about, alone or with others."""
    kinds: tuple[str, ...] = ()
    """None: of all kinds."""
    clause: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    before: Position | None = None


@dataclass(frozen=True, slots=True)
class StoredRuling:
    """A ruling of the log."""

    event: StoredEvent
    players: tuple[PlayerId, ...]
    """Whom it is about, by seat; none for a table."""
    reversed_by: Version | None
    """The version of the event that took it back, None if there is none."""
