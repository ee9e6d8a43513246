"""A hand's record out of the log."""

from collections.abc import AsyncIterator
from typing import Final

from baohuang.eventlog.chain import instant
from baohuang.eventlog.codec import decode
from baohuang.eventlog.port import NO_VERSION, EventReader, StoredEvent, StreamId, Version
from baohuang.handrecord.record import HandRecord, RecordedEvent, Variant
from baohuang.rules.events import HandFinished, HandStarted, TableDissolved
from baohuang.rules.state import Instant, TableId

_PAGE: Final = 1000


class NoSuchHand(LookupError):  # noqa: N818 - a finding about the log
    """The log has no such table, or no such hand of it."""


class StillPlayed(Exception):  # noqa: N818 - a finding about the log
    """The hand is not over: nobody is shown it before it is (TABLE-2)."""


class HandCutter:
    """Cuts the finished hands out of a table's events, which it is given one after the other."""

    def __init__(self) -> None:
        self._events: list[RecordedEvent] = []
        self._hand: int | None = None

    @property
    def playing(self) -> int | None:
        """The number of the hand that has begun and not ended."""
        return self._hand

    def take(self, recorded: RecordedEvent) -> HandRecord | None:
        """Return the full record of the hand that the event ends; again, longer, if it dissolves the table with it."""
        match recorded.event:
            case HandStarted():
                self._events, self._hand = [recorded], recorded.event.hand
            case HandFinished() | TableDissolved() if self._events:
                self._events.append(recorded)
                self._hand = None
                return HandRecord(Variant.FULL, tuple(self._events))
            case _ if self._hand is not None:
                self._events.append(recorded)
            case _:
                self._events = []
        return None


async def hand_of(
    log: EventReader, table_id: TableId, number: int | None = None, after: Version = NO_VERSION
) -> HandRecord:
    """Return the full record of a hand of a table: the one of that number, or the last that is finished.

    Reads the table's stream page by page, from the beginning or `after` a version on at which the hand had not begun
    yet, and keeps two hands in memory at most.
    Raises NoSuchHand, StillPlayed, CodecError for an event that this release does not know, LogUnavailable.
    """
    found: HandRecord | None = None
    cutter = HandCutter()
    async for stored in _stream(log, StreamId(table_id), after):
        cut = cutter.take(recorded_of(stored))
        if cut is not None and number in {None, cut.started.hand}:
            found = cut
        elif found is not None and number is not None:
            return found
    if found is not None:
        return found
    if cutter.playing is not None and number in {None, cutter.playing}:
        raise StillPlayed(f"hand {cutter.playing} of {table_id} is still being played")
    raise NoSuchHand(f"there is no finished hand{'' if number is None else f' {number}'} of a table {table_id}")


def recorded_of(stored: StoredEvent) -> RecordedEvent:
    """Return an event of the log, decoded. Raises CodecError."""
    return RecordedEvent(stored.version, Instant(instant(stored.recorded_at)), decode(stored.type, stored.data))


async def _stream(log: EventReader, stream_id: StreamId, after: Version) -> AsyncIterator[StoredEvent]:
    while page := await log.read_stream(stream_id, after, _PAGE):
        for stored in page:
            yield stored
        after = page[-1].version
