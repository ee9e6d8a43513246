"""Somebody's open transaction, to force a race with."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from secrets import token_bytes
from typing import Any

from baohuang.eventlog.chain import SALT_BYTES, link
from baohuang.eventlog.port import Append
from baohuang.eventlog.postgres.connections import Limits, open_pool
from baohuang.eventlog.postgres.flush import arguments_of
from baohuang.eventlog.postgres.group_commit import Linked
from baohuang.eventlog.postgres.queries import query


@asynccontextmanager
async def open_transaction(dsn: str) -> AsyncIterator[Any]:
    """Hold a second connection open in the middle of a transaction, which is rolled back unless committed."""
    async with await open_pool(dsn, 1, Limits()) as pool, pool.acquire() as connection:
        transaction = connection.transaction()
        # As the superuser, who sees what other sessions wait for.
        await connection.execute("set role none")
        await transaction.start()
        # Within a transaction the statistics views stand still unless told not to.
        await connection.execute("set local stats_fetch_consistency = 'none'")
        yield connection
        if connection.is_in_transaction():
            await transaction.rollback()


async def append_within(connection: Any, wanted: Append) -> None:
    """Append inside somebody's transaction, leaving it open with its position taken."""
    batch = [Linked(wanted, link(wanted, [token_bytes(SALT_BYTES) for _ in wanted.events]))]
    (row,) = await connection.fetch(query("append"), *arguments_of(batch))
    assert row["settled"] == "appended"


async def waits_for_a_lock(connection: Any) -> bool:
    """Tell whether a session of this database waits for somebody's lock."""
    return bool(
        await connection.fetchval(
            "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
        )
    )
