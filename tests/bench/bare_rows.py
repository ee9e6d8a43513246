"""The baseline of the event log: the same rows, one a transaction, and nothing else.

The table has the columns, types and unique constraints of the log's events, and no checks, heads, requests, chain or
contiguous positions. Inserts are prepared and go over 32 connections at once, unless told otherwise, which lets the
server group their commits; a sequence numbers them.
"""

import asyncio
import time
from datetime import UTC, datetime
from typing import Any, Final

import asyncpg

from .hands import EVENTS

CONNECTIONS: Final = 32
_CREATE: Final = """
drop table if exists bare_rows;
create table bare_rows (
    position bigint generated always as identity primary key, recorded_at timestamptz not null, version int not null,
    stream_id text collate "C" not null, type text collate "C" not null, actor text collate "C" not null,
    request_id text collate "C" not null, data jsonb not null, salt bytea not null, hash bytea not null,
    unique (stream_id, version)
)
"""
_INSERT: Final = """
insert into bare_rows (recorded_at, version, stream_id, type, actor, request_id, data, salt, hash)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
"""


async def inserted(dsn: str, seconds: float, connections: int = CONNECTIONS) -> float:
    """Return the rows a second that so many connections insert, each waiting for its commit."""
    async with asyncpg.create_pool(dsn, min_size=connections, max_size=connections) as pool:
        await pool.execute(_CREATE)
        start = time.perf_counter()
        counts = await asyncio.gather(*(_insert(pool, number, start + seconds) for number in range(connections)))
        return sum(counts) / (time.perf_counter() - start)


async def _insert(pool: Any, number: int, end: float) -> int:
    async with pool.acquire() as connection:
        statement = await connection.prepare(_INSERT)
        stream_id, salt, digest, version = f"{number:016x}", bytes(16), bytes(32), 0
        while time.perf_counter() < end:
            event = EVENTS[version % len(EVENTS)]
            version += 1
            await statement.fetch(
                datetime.now(UTC), version, stream_id, event.type, f"player-{version % 5}", f"{stream_id}-{version}",
                event.data.decode(), salt, digest,
            )  # fmt: skip
        return version
