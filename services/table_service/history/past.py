"""A table as it was."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from baohuang.eventlog.port import NO_VERSION, StoredEvent, StreamId, Version
from baohuang.history.reader import HistoryReader
from baohuang.rpc.errors import NotFound, Reason
from baohuang.rules.redact import Viewer, mask
from baohuang.rules.state import Table
from table_service.history.sight import Sights
from table_service.privacy import Visitor
from table_service.readable import table_after
from table_service.views import viewer_seat

At = Version | datetime
"""A version, or an instant (aware)."""


class PastTable(Struct, frozen=True):
    """A table as its viewer may see it now, the event that left it so, and his seat in the hand."""

    table: Table
    last: StoredEvent
    seat: Viewer


class Past:
    """Tells tables as they were, at the cost of one hand."""

    def __init__(self, records: HistoryReader, sights: Sights) -> None:
        self._records = records
        self._sights = sights

    async def at(self, visitor: Visitor, stream_id: StreamId, at: At) -> PastTable:
        """Return the table right after a version, or after all that was recorded by an instant.

        It is open if the hand that was played then is over by now. Raises NotFound, LogUnavailable, Unavailable.
        """
        version = await self._records.version_at(stream_id, at) if isinstance(at, datetime) else at
        sight = await self._sights.of_one(visitor, stream_id)
        if isinstance(at, datetime):
            version = min(version, sight.shown_until)
        stored = await self._records.hand_until(stream_id, version) if version and sight.shows(version) else ()
        if not stored or stored[-1].version != version:
            raise no_such_version(stream_id, version)
        table = _folded(stored)
        seat = viewer_seat(table, visitor.player)
        return PastTable(table if sight.opens(version) else mask(table, seat), stored[-1], seat)


def _folded(stored: Sequence[StoredEvent]) -> Table:
    table = table_after(stored)
    if table is None:
        raise ValueError("a table begins with an event")
    return table


def no_such_version(stream_id: StreamId, version: Version) -> NotFound:
    """Return the refusal of a version that there is none of, or none for the caller yet."""
    what = f"no version {version}" if version != NO_VERSION else "nothing by then"
    return NotFound(Reason.NO_SUCH_VERSION, f"{stream_id} has {what}")
