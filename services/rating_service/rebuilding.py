"""Ratings computed anew from a ledger, beside the ones in use, and both compared.

What an operator skipped is no part of the ledger: it is skipped in the new ones as well.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from baohuang.database.beside import schema_beside, snapshot
from baohuang.database.comparing import Difference, Rows, differences
from baohuang.database.pool import Connection, Pool
from baohuang.scoring.events import NO_POSTING, PostingNumber
from baohuang.stream.port import Number, Source
from rating_service.boards import CONSUMER
from rating_service.queries import query
from rating_service.ratings import rate
from rating_service.schema import SCHEMA
from rating_service.wiring import open_ratings

_BATCH: Final = 500
_COMPARED: Final = ("changes", "standings", "players")
_REACHED: Final = query("reached")
_SKIPPED: Final = query("skipped")


@dataclass(frozen=True, slots=True)
class RebuiltRatings:
    """Ratings computed anew up to `through`, where those in use are; `reached` is less if the ledger ends before."""

    pool: Pool
    through: PostingNumber
    reached: PostingNumber
    found: Connection

    async def differences(self) -> AsyncIterator[Difference]:
        """Give each row that the ratings in use have otherwise than those computed anew."""
        async with self.pool.acquire() as wanted, wanted.transaction():
            for table in _COMPARED:
                async for difference in differences(Rows(table, query(f"compare_{table}")), self.found, wanted):
                    yield difference


@asynccontextmanager
async def rebuilt_ratings(dsn: str, ledger: Source) -> AsyncIterator[RebuiltRatings]:
    """Compute ratings anew from a ledger, for as long as the block lasts; those in use are only read, and go on.

    Raises BesideInUse, OSError, asyncpg.PostgresError, sqlalchemy.exc.DBAPIError, LogUnavailable.
    """
    async with snapshot(dsn) as found, schema_beside(dsn, SCHEMA) as name, await open_ratings(dsn, name) as pool:
        await found.execute(f"set local search_path to {SCHEMA.name}")
        through = PostingNumber(await found.fetchval(_REACHED, CONSUMER))
        skipped = {row["number"] for row in await found.fetch(_SKIPPED, CONSUMER)}
        reached = await _rate_all(pool, ledger, through, skipped)
        yield RebuiltRatings(pool, through, reached, found)


async def _rate_all(pool: Pool, ledger: Source, through: PostingNumber, skipped: set[Any]) -> PostingNumber:
    reached = NO_POSTING
    while reached < through:
        messages = await ledger.read(Number(reached), min(_BATCH, through - reached))
        if not messages:
            return reached
        async with pool.acquire() as connection, connection.transaction():
            await rate(connection, [message for message in messages if message.number not in skipped])
        reached = PostingNumber(messages[-1].number)
    return reached
