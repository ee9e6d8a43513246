"""A schema made anew beside the one in use, to recompute into and to compare with it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from baohuang.database.migrations import migrate
from baohuang.database.pool import Connection, open_connection
from baohuang.database.schema import Schema


class BesideInUse(Exception):  # noqa: N818 (a state of the database)
    """Somebody else recomputes the same schema just now."""


@asynccontextmanager
async def snapshot(dsn: str) -> AsyncIterator[Connection]:
    """Give a connection that sees the database as it is now for as long as the block lasts, and changes nothing.

    Raises OSError, asyncpg.PostgresError.
    """
    connection = await open_connection(dsn, "baohuang snapshot")
    try:
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            yield connection
    finally:
        await connection.close()


@asynccontextmanager
async def schema_beside(dsn: str, schema: Schema) -> AsyncIterator[str]:
    """Make an empty schema like one of ours, give its name, and drop it in the end.

    Raises BesideInUse, OSError, asyncpg.PostgresError, sqlalchemy.exc.DBAPIError.
    """
    name = f"{schema.name}_beside"
    connection = await open_connection(dsn, "baohuang beside")
    try:
        if not await connection.fetchval("select pg_try_advisory_lock(hashtext($1))", name):
            raise BesideInUse(f"{schema.name} is being recomputed by somebody else")
        await connection.execute(f"drop schema if exists {name} cascade")
        await asyncio.to_thread(migrate, dsn, replace(schema, name=name))
        try:
            yield name
        finally:
            await connection.execute(f"drop schema if exists {name} cascade")
    finally:
        await connection.close()
