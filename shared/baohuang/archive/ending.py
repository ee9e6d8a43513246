"""Whether a file's table is finished, and its summary what its events come to."""

from collections.abc import Iterator
from typing import Final

from baohuang.audit.findings import Check, Finding
from baohuang.eventlog.codec import decode
from baohuang.eventlog.json_codec import CodecError
from baohuang.eventlog.port import Head, StoredEvent
from baohuang.eventlog.summaries import follows
from baohuang.rules.evolve import evolve
from baohuang.rules.state import Table, TableStatus

_FINISHED: Final = (TableStatus.CLOSED, TableStatus.DISSOLVED)


class EndingAudit:
    """Follows a table to its end, and holds no more than it."""

    def __init__(self, head: Head) -> None:
        self._head = head
        self._table: Table | None = None
        self._lost = False

    def take(self, event: StoredEvent) -> None:
        """Take in the next event."""
        if self._lost:
            return
        try:
            self._table = evolve(self._table, decode(event.type, event.data))
        except (CodecError, ValueError, LookupError, TypeError, AttributeError):
            self._lost = True  # one that cannot follow here

    def end(self) -> Iterator[Finding]:
        """Tell what is wrong with the end."""
        if self._lost or self._table is None:
            yield self._found("what the table comes to cannot be told: an event of it cannot be followed")
            return
        if self._table.status not in _FINISHED:
            yield self._found("the table is not finished here: the file was cut, or is of a table that went on")
        if not follows(self._head.summary, self._table):
            yield self._found("the summary is not what the events come to")

    def _found(self, message: str) -> Finding:
        return Finding(Check.HEAD, self._head.stream_id, self._head.version, message)
