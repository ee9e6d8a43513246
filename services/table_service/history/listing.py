"""Pages of events and rulings, each as its caller may see it.

What is not shown to him yet is passed over as if it were not there, up to the end: a page that is short, or after which
another is said to come, would tell of it.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from msgspec import Struct

from baohuang.audit.pausing import HalfTheTime
from baohuang.eventlog.port import Position, StoredEvent, StreamId, Version
from baohuang.history.reader import HistoryReader
from baohuang.history.sought import EventsSought, Order, RulingsSought, StoredRuling
from table_service.history.sight import Sight, Sights
from table_service.privacy import Visitor

_AT_A_TIME: Final = 100
"""Events that are read, and told, without anybody else having a turn."""


class SeenEvent(Struct, frozen=True):
    """An event, and what its reader may see of it."""

    stored: StoredEvent
    sight: Sight


class SeenRuling(Struct, frozen=True):
    """A ruling, and what its reader may see of its stream."""

    ruling: StoredRuling
    sight: Sight

    @property
    def reversed_by(self) -> Version | None:
        """The version of the event that took it back, if he is shown that by now."""
        version = self.ruling.reversed_by
        return version if version is not None and self.sight.shows(version) else None


class Listing:
    """Reads on and on, in short pages."""

    def __init__(self, records: HistoryReader, sights: Sights) -> None:
        self._records = records
        self._sights = sights

    async def events(self, visitor: Visitor, sought: EventsSought, order: Order) -> AsyncGenerator[SeenEvent, None]:
        """Yield the events sought that are shown to the visitor by now. Raises LogUnavailable."""
        while batch := await self._records.events(sought, order, _AT_A_TIME):
            sights, pause = await self._sights.of(visitor, _latest(batch)), HalfTheTime()
            for stored in batch:
                sight = sights[stored.stream_id]
                if sight.shows(stored.version):
                    yield SeenEvent(stored, sight)
                    await pause()
            if len(batch) < _AT_A_TIME:
                return
            sought = behind(sought, order, batch[-1].position)

    async def rulings(self, visitor: Visitor, sought: RulingsSought) -> AsyncGenerator[SeenRuling, None]:
        """Yield the rulings sought that are shown to the visitor by now, newest first. Raises LogUnavailable."""
        while batch := await self._records.rulings(sought, _AT_A_TIME):
            sights = await self._sights.of(visitor, _latest([one.event for one in batch]))
            pause = HalfTheTime()
            for ruling in batch:
                sight = sights[ruling.event.stream_id]
                if sight.shows(ruling.event.version):
                    yield SeenRuling(ruling, sight)
                    await pause()
            if len(batch) < _AT_A_TIME:
                return
            sought = replace(sought, before=batch[-1].event.position)

    async def is_about(self, visitor: Visitor, stream_id: StreamId, version: Version) -> bool:
        """Tell whether a ruling about the visitor stands at that version. Raises LogUnavailable."""
        sought = RulingsSought(stream_id, visitor.player)
        while batch := await self._records.rulings(sought, _AT_A_TIME):
            if any(one.event.version == version for one in batch):
                return True
            sought = replace(sought, before=batch[-1].event.position)
        return False


def _latest(events: Sequence[StoredEvent]) -> Mapping[StreamId, Version]:
    """Return the last version of each stream that is among the events."""
    latest: dict[StreamId, Version] = {}
    for one in events:
        latest[one.stream_id] = max(one.version, latest.get(one.stream_id, one.version))
    return latest


def behind(sought: EventsSought, order: Order, position: Position) -> EventsSought:
    """Return what is sought behind a position."""
    if order is Order.OLDEST_FIRST:
        return replace(sought, after=position)
    return replace(sought, before=position)
