"""Messages a second that the relay publishes, beside the events a second that the log takes in the same run.

In rounds on one embedded PostgreSQL and one nats-server, both with their defaults: tables append without a pause for a
while, then a relay publishes what they left (`throughput`); and tables append in a process of their own while a relay
publishes (`alongside`), from the first append until the stream is the log.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Sequence
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
from baohuang.stream.streams import TABLE_STREAM
from baohuang.stream.working import at_work
from table_service.relaying import LOG_SOURCE, RELAY_IDENTITY

from . import replicas, tables
from .row import Bench, Row

_ROUNDS: Final = 5
_SECONDS: Final = 1.5
_TABLES: Final = 32
_LOOK_SECONDS: Final = 0.01
_AGAINST: Final = "appends of the same round, 32 tables"


async def run(wanted: Sequence[str]) -> Sequence[Row]:
    """Measure the wanted rows in rounds."""
    with tempfile.TemporaryDirectory() as folder:
        postgres, nats = EmbeddedPostgres(Path(folder)), EmbeddedNats(Path(folder))
        dsn, url = await postgres.start(), await nats.start()
        try:
            await asyncio.to_thread(migrate, dsn)
            async with await open_pool(dsn, 2, Limits(), RELAY_IDENTITY) as pool:
                return [await _row(_Place(dsn, url, pool), name) for name in wanted]
        finally:
            await nats.destroy()
            await postgres.destroy()


class _Place:
    """One log and one stream."""

    def __init__(self, dsn: str, url: str, pool: Pool) -> None:
        self.dsn = dsn
        self._url = url
        self._pool = pool

    async def events(self) -> int:
        """Return how many events the log has."""
        connection = await asyncpg.connect(self.dsn)
        count = await connection.fetchval("select last_position from eventlog.counter")
        await connection.close()
        return int(count)

    def relay(self) -> Relay:
        """Return a relay as the table service has it."""
        connect = connect_to(self._url, "bench")
        return Relay(LogSource(self._pool), TABLE_STREAM, Lease(self._pool, LOG_SOURCE), connect)

    async def published(self, events: int) -> None:
        """Wait until the stream has so many messages."""
        async with connect_to(self._url, "bench looks")() as client:
            stream = JetStream(client, TABLE_STREAM)
            while await _number(stream) < events:  # noqa: ASYNC110 (of a server, which sets no event here)
                await asyncio.sleep(_LOOK_SECONDS)


async def _number(stream: JetStream) -> int:
    try:
        return (await stream.end()).number
    except StreamMissing:
        return 0


async def _row(place: _Place, name: str) -> Row:
    measure = {"relay.throughput": _backlog, "relay.alongside": _alongside}[name]
    rates = [await measure(place) for _ in range(_ROUNDS)]
    value, baseline = (statistics.median(one) for one in zip(*rates, strict=True))
    return Row(name, value, "messages/s", baseline, _AGAINST)


async def _backlog(place: _Place) -> tuple[float, float]:
    """Return the messages a second of a relay that finds a backlog, and the events a second that made it."""
    before = await place.events()
    appended = await tables.appended(place.dsn, _TABLES, _SECONDS)
    events = await place.events()
    start = time.perf_counter()
    async with at_work(place.relay()):
        await place.published(events)
        return (events - before) / (time.perf_counter() - start), appended


async def _alongside(place: _Place) -> tuple[float, float]:
    """Return the messages a second of a relay while tables append, and their events a second."""
    before = await place.events()
    async with at_work(place.relay()):
        await place.published(before)
        appended = await replicas.appended(place.dsn, _TABLES, _SECONDS, processes=1)
        events, lag = await place.events(), time.perf_counter()
        await place.published(events)
        seconds = _SECONDS + time.perf_counter() - lag
        return (events - before) / seconds, appended


BENCH: Final = Bench(("relay.throughput", "relay.alongside"), run)
