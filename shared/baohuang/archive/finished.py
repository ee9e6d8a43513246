"""Which tables are finished."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, Final

import msgspec

from baohuang.archive.queries import query
from baohuang.database.pool import Identity, Limits, Pool, open_pool
from baohuang.eventlog.port import Head, StreamId
from baohuang.eventlog.postgres.schema import HISTORY
from baohuang.rules.state import TableStatus

_IDENTITY: Final = Identity("baohuang archive", HISTORY)
_PAGE: Final = 500
_STATUSES: Final = (TableStatus.CLOSED.value, TableStatus.DISSOLVED.value)
_FINISHED: Final = query("finished")


class _Summary(msgspec.Struct):
    """What is read of a stream's summary here."""

    status: str = ""


@asynccontextmanager
async def open_finished(dsn: str) -> AsyncIterator["FinishedTables"]:
    """Open the listing of a migrated database's finished tables. Raises OSError, asyncpg.PostgresError."""
    async with await open_pool(dsn, 1, Limits(), _IDENTITY) as pool:
        yield FinishedTables(pool)


def is_finished(head: Head) -> bool:
    """Tell whether the stream is a table that nobody can play at any more."""
    return msgspec.json.decode(head.summary, type=_Summary).status in _STATUSES


class FinishedTables:
    """Reads pages; raises asyncpg.PostgresError, OSError."""

    def __init__(self, pool: Pool) -> None:
        self._pool: Final = pool

    async def before(self, moment: datetime) -> AsyncIterator[StreamId]:
        """Give the tables that are closed or dissolved, with no event from a moment (UTC) on, ascending by id."""
        after = ""
        while rows := await self._fetch(_FINISHED, after, moment, _PAGE):
            for row in rows:
                yield row["stream_id"]
            after = rows[-1]["stream_id"]

    async def _fetch(self, text: str, *arguments: object) -> Sequence[Any]:
        rows: Sequence[Any] = await self._pool.fetch(text, *arguments)
        return rows
