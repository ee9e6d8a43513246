"""All that is sought, a page a read, in constant memory: no read is long, and the log may grow meanwhile."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from baohuang.eventlog.port import StoredEvent
from baohuang.history.reader import HistoryReader
from baohuang.history.sought import EventsSought, Order, RulingsSought, StoredRuling


async def pages_of_events(
    reader: HistoryReader, sought: EventsSought, order: Order, page: int
) -> AsyncIterator[Sequence[StoredEvent]]:
    """Give the events sought in pages of so many, the last one shorter and perhaps empty. Raises LogUnavailable."""
    while True:
        events = await reader.events(sought, order, page)
        yield events
        if len(events) < page:
            return
        last = events[-1].position
        sought = replace(sought, after=last) if order is Order.OLDEST_FIRST else replace(sought, before=last)


async def pages_of_rulings(
    reader: HistoryReader, sought: RulingsSought, page: int
) -> AsyncIterator[Sequence[StoredRuling]]:
    """Give the rulings sought, newest first, in pages of so many, the last one shorter. Raises LogUnavailable."""
    while True:
        rulings = await reader.rulings(sought, page)
        yield rulings
        if len(rulings) < page:
            return
        sought = replace(sought, before=rulings[-1].event.position)
