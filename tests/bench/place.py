"""A log on PostgreSQL and its streams on NATS, both embedded, with their defaults."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import asyncpg

from baohuang.database.pool import Limits, Pool, open_pool
from baohuang.embedded.nats import EmbeddedNats
from baohuang.embedded.postgres import EmbeddedPostgres
from baohuang.eventlog.postgres.migrations import migrate
from baohuang.stream.connection import connect_to
from baohuang.stream.jetstream import JetStream
from baohuang.stream.lease import Lease
from baohuang.stream.log_source import LogSource
from baohuang.stream.port import StreamMissing
from baohuang.stream.relay import Relay
from baohuang.stream.streams import TABLE_STREAM, StreamName
from table_service.relaying import LOG_SOURCE, RELAY_IDENTITY

_LOOK_SECONDS: Final = 0.01


class Place:
    """One log and what is published of it."""

    def __init__(self, dsn: str, url: str, pool: Pool) -> None:
        self.dsn: Final = dsn
        self.url: Final = url
        self._pool: Final = pool

    async def events(self) -> int:
        """Return how many events the log has."""
        connection = await asyncpg.connect(self.dsn)
        count = await connection.fetchval("select last_position from eventlog.counter")
        await connection.close()
        return int(count)

    def relay(self) -> Relay:
        """Return a relay as the table service has it."""
        connect = connect_to(self.url, "bench")
        return Relay(LogSource(self._pool), TABLE_STREAM, Lease(self._pool, LOG_SOURCE), connect)

    async def published(self, events: int) -> None:
        """Wait until the log's stream has so many messages."""
        async with self.looking_at(TABLE_STREAM) as stream:
            while await number_of(stream) < events:  # noqa: ASYNC110 (of a server, which sets no event here)
                await asyncio.sleep(_LOOK_SECONDS)

    @asynccontextmanager
    async def looking_at(self, name: StreamName) -> AsyncIterator[JetStream]:
        """Give a stream over a connection of its own."""
        async with connect_to(self.url, "bench looks")() as client:
            yield JetStream(client, name)


async def number_of(stream: JetStream) -> int:
    """Return how many messages a stream has: none if it is not there."""
    try:
        return (await stream.end()).number
    except StreamMissing:
        return 0


@asynccontextmanager
async def place() -> AsyncIterator[Place]:
    """Give an empty log, migrated, and an empty NATS; both are gone after the block."""
    with tempfile.TemporaryDirectory() as folder:
        postgres, nats = EmbeddedPostgres(Path(folder)), EmbeddedNats(Path(folder))
        dsn, url = await postgres.start(), await nats.start()
        try:
            await asyncio.to_thread(migrate, dsn)
            async with await open_pool(dsn, 2, Limits(), RELAY_IDENTITY) as pool:
                yield Place(dsn, url, pool)
        finally:
            await nats.destroy()
            await postgres.destroy()
