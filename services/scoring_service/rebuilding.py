"""The ledger computed anew from the log's public view, beside the one in use, and both compared.

What an operator skipped is no part of the log: it is skipped in the new one as well.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from baohuang.database.beside import schema_beside, snapshot
from baohuang.database.comparing import Difference, Rows, differences
from baohuang.database.pool import Connection, Pool
from baohuang.eventlog.port import Position
from baohuang.stream.applying import Applying
from baohuang.stream.port import NO_NUMBER, Number
from baohuang.stream.public_log import settling_between
from scoring_service.ledger import Progress
from scoring_service.queries import query
from scoring_service.redriving import NotWaiting, skip
from scoring_service.schema import SCHEMA
from scoring_service.scoring import score
from scoring_service.wiring import SUBSCRIPTION, open_ledger

_BATCH: Final = 500
_COMPARED: Final = ("postings", "entries", "accounts", "unscored")
_PROGRESS: Final = query("progress")
_SKIPPED: Final = query("skipped")


@dataclass(frozen=True, slots=True)
class RebuiltLedger:
    """A ledger computed anew up to where the one in use is in the snapshot."""

    pool: Pool
    progress: Progress
    found: Connection

    async def differences(self) -> AsyncIterator[Difference]:
        """Give each row that the ledger in use has otherwise than the one computed anew."""
        async with self.pool.acquire() as wanted, wanted.transaction():
            for table in _COMPARED:
                async for difference in differences(Rows(table, query(f"compare_{table}")), self.found, wanted):
                    yield difference


@asynccontextmanager
async def rebuilt_ledger(dsn: str) -> AsyncIterator[RebuiltLedger]:
    """Compute the ledger anew, for as long as the block lasts; the one in use is only read, and goes on meanwhile.

    Raises BesideInUse, OSError, asyncpg.PostgresError, sqlalchemy.exc.DBAPIError, LogUnavailable.
    """
    async with snapshot(dsn) as found, schema_beside(dsn, SCHEMA) as name, await open_ledger(dsn, name) as pool:
        await found.execute(f"set local search_path to {SCHEMA.name}")
        row: Any = await found.fetchrow(_PROGRESS)
        progress = Progress(row["last_number"], row["last_position"])
        await _score_all(pool, progress.position)
        await _skip_all(pool, await found.fetch(_SKIPPED))
        yield RebuiltLedger(pool, progress, found)


async def _score_all(pool: Pool, through: Position) -> None:
    applying = Applying(pool, SUBSCRIPTION, score)
    reached = NO_NUMBER
    while reached < through:
        async with pool.acquire() as connection:
            messages = await settling_between(connection, reached, Number(through), _BATCH)
        if not messages:
            return
        reached = await applying.take(messages)


async def _skip_all(pool: Pool, skipped: Sequence[Any]) -> None:
    for row in skipped:
        try:
            async with pool.acquire() as connection, connection.transaction():
                await skip(connection, row["number"], row["reason"])
        except NotWaiting:
            continue  # it can be scored by now, which the comparison tells
