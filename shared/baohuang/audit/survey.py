"""The log as a whole, as verification reads it: which streams there are, and whether positions have holes."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, Final

from baohuang.audit.queries import query
from baohuang.database.pool import Identity, Limits, Pool, open_pool
from baohuang.eventlog.port import NO_POSITION, Position, StreamId

_IDENTITY: Final = Identity("baohuang verify", "baohuang_app")
_STREAMS: Final = 1000
_LAST: Final = query("last_position")
_COUNT: Final = query("count_positions")
_MISSING: Final = query("missing_positions")
_HOMELESS: Final = query("homeless_streams")
_RECORDED_FROM: Final = query("recorded_from")
_STREAMS_SINCE: Final = query("streams_since")
_LONG_AGO: Final = datetime.min  # noqa: DTZ901 (PostgreSQL's -infinity)


@asynccontextmanager
async def open_survey(dsn: str) -> AsyncIterator["Survey"]:
    """Open a survey of a migrated database's log. Raises OSError, asyncpg.PostgresError."""
    async with await open_pool(dsn, 1, Limits(), _IDENTITY) as pool:
        yield Survey(pool)


class Survey:
    """Reads pages; raises asyncpg.PostgresError, OSError."""

    def __init__(self, pool: Pool) -> None:
        self._pool: Final = pool

    async def streams(self, since: datetime | None = None) -> AsyncIterator[StreamId]:
        """Give the ids of all streams that have a head, ascending; with `since` only those with an event from then on.

        A stream whose last event is missing is given whatever the moment.
        """
        after = ""
        while rows := await self._fetch(_STREAMS_SINCE, after, since or _LONG_AGO, _STREAMS):
            for row in rows:
                if row["moved"]:
                    yield row["stream_id"]
            after = rows[-1]["stream_id"]

    async def last_position(self) -> tuple[Position, Position]:
        """Return the last position by the counter, and by the events."""
        (row,) = await self._fetch(_LAST)
        return row["counted"], row["stored"] or NO_POSITION

    async def count(self, after: Position, to: Position) -> tuple[int, int]:
        """Return how many events there are after a position up to another, and how many in streams without a head."""
        (row,) = await self._fetch(_COUNT, after, to)
        return row["events"], row["homeless"]

    async def missing(self, after: Position, to: Position, limit: int) -> Sequence[Position]:
        """Return up to `limit` positions of a range that hold no event."""
        return [row["position"] for row in await self._fetch(_MISSING, after, to, limit)]

    async def homeless(self, after: Position, to: Position) -> Sequence[StreamId]:
        """Return the streams without a head that have events in a range."""
        return [row["stream_id"] for row in await self._fetch(_HOMELESS, after, to)]

    async def position_at(self, moment: datetime) -> Position:
        """Return a position before the events that were recorded from a moment on, found by halving.

        Commands are appended in nearly the order of their readings of the clock; who asks leaves some room.
        """
        low, (high, _) = NO_POSITION, await self.last_position()
        while low < high:
            middle = Position((low + high) // 2)
            rows = await self._fetch(_RECORDED_FROM, middle + 1)
            if rows and rows[0]["recorded_at"] < moment:
                low = Position(middle + 1)
            else:
                high = middle
        return low

    async def _fetch(self, text: str, *arguments: object) -> Sequence[Any]:
        rows: Sequence[Any] = await self._pool.fetch(text, *arguments)
        return rows
