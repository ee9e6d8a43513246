"""The event log as the source of the stream `baohuang-table`: message n is the event at position n."""

from collections.abc import Sequence
from typing import Any, Final

from baohuang.database.pool import FAILURES, Pool
from baohuang.eventlog.port import LogUnavailable, StoredEvent
from baohuang.stream.port import Message, Number
from baohuang.stream.queries import query
from baohuang.stream.table_messages import SETTLING, message_of, public_event

_AFTER: Final = query("log_after")


class LogSource:
    """A `Source` over a pool that acts as the log's own role."""

    def __init__(self, pool: Pool) -> None:
        self._pool: Final = pool

    async def read(self, after: Number, limit: int) -> Sequence[Message]:
        """See `Source.read`."""
        try:
            rows = await self._pool.fetch(_AFTER, after, limit, SETTLING)
        except FAILURES as error:
            raise LogUnavailable(f"{type(error).__name__}: {error}") from error
        return [_message(row) for row in rows]


def _message(row: Any) -> Message:
    # The query names its columns in the order of StoredEvent's fields, and then one more.
    *columns, preceded_by = row
    return message_of(public_event(StoredEvent(*columns)), preceded_by)
