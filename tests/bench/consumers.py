"""Finished hands a second that one replica of scoring, and one of rating, takes from a backlog.

A round: a log gets hands and fines, and a relay publishes them, while nobody scores. Then a replica of scoring starts,
a process of its own, that books them and publishes its ledger: measured from the first posting that the ledger's stream
has to the last. Then, while nobody scores, a replica of rating starts on that stream: measured from the first posting
that is rated to the last. PostgreSQL and NATS have their defaults (fsync on), on the same machine. What would be done
by one who commits each hand for itself, as a single row, is measured in the same round.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import asyncpg

import rating_service.migrations
import scoring_service.migrations
from baohuang.eventlog.postgres.log import open_log
from baohuang.stream.streams import SCORING_STREAM
from baohuang.stream.working import at_work
from command_line.service_process import ServiceProcess
from command_line.services import RATING, SCORING, Service

from . import bare_rows
from .place import Place, number_of, place
from .row import Bench, Row
from .settled import Settled, settle

_ROUNDS: Final = 3
_COPIES: Final = 30
_SECONDS: Final = 1.0
_PATIENCE_SECONDS: Final = 60.0
_LOOK_SECONDS: Final = 0.01
_RATED: Final = "select coalesce(max(number), 0) from rating.checkpoints"
_ROWS: Final = {"scoring.hands": SCORING, "rating.hands": RATING}
_AGAINST: Final = "bare one-row commits, 1 connection"
_Reached = Callable[[], Awaitable[int]]
"""Tells how many postings there are, or are rated."""


async def run(wanted: Sequence[str]) -> Sequence[Row]:
    """Measure both in rounds: what one publishes, the other takes."""
    async with place() as here, _looking(here) as looks:
        for migrations in (scoring_service.migrations, rating_service.migrations):
            await asyncio.to_thread(migrations.migrate, here.dsn)
        rates = [(*await _round(here, looks), await _bare(here)) for _ in range(_ROUNDS)]
    *values, baseline = (statistics.median(one) for one in zip(*rates, strict=True))
    rows = (Row(name, value, "hands/s", baseline, _AGAINST) for name, value in zip(_ROWS, values, strict=True))
    return [row for row in rows if row.name in wanted]


@asynccontextmanager
async def _looking(here: Place) -> AsyncIterator[dict[Service, _Reached]]:
    """Give how far each service has got."""
    connection = await asyncpg.connect(here.dsn)

    async def rated() -> int:
        return int(await connection.fetchval(_RATED))

    try:
        async with here.looking_at(SCORING_STREAM) as ledger:
            yield {SCORING: lambda: number_of(ledger), RATING: rated}
    finally:
        await connection.close()


async def _round(here: Place, looks: dict[Service, _Reached]) -> Sequence[float]:
    """Return the hands a second of each service."""
    backlog = await _backlog(here)
    share = backlog.hands / backlog.events
    return [share * await _taken(here, service, reached, backlog.events) for service, reached in looks.items()]


async def _backlog(here: Place) -> Settled:
    async with open_log(here.dsn, readers=1) as log:
        settled = await settle(log, _COPIES)
    async with at_work(here.relay()):
        await here.published(await here.events())
    return settled


@dataclass(frozen=True, slots=True)
class _Seen:
    """How far a service had got at a moment, in seconds."""

    number: int
    at: float


async def _taken(here: Place, service: Service, reached: _Reached, count: int) -> float:
    """Return the messages a second that a replica takes from when the first of so many is done to the last."""
    before = await reached()
    async with _running(here, service):
        first = await _seen(reached, before + 1)
        last = await _seen(reached, before + count)
    return (last.number - first.number) / (last.at - first.at)


@asynccontextmanager
async def _running(here: Place, service: Service) -> AsyncIterator[None]:
    """Run a replica; the block begins as it starts, since it has a part of its work behind it when it listens."""
    environment = {"BAOHUANG_POSTGRES_DSN": here.dsn, "BAOHUANG_NATS_URL": here.url, "BAOHUANG_INSECURE_DEV": "true"}
    with tempfile.TemporaryDirectory() as folder:
        process = ServiceProcess(service, Path(folder), environment)
        async with asyncio.timeout(_PATIENCE_SECONDS), asyncio.TaskGroup() as starting:
            started = starting.create_task(process.start())
            try:
                yield
                await started
            finally:
                await process.stop()


async def _seen(reached: _Reached, number: int) -> _Seen:
    """Wait until it has got so far."""
    while (now := await reached()) < number:  # noqa: ASYNC110 (of another process, which sets no event here)
        await asyncio.sleep(_LOOK_SECONDS)
    return _Seen(now, time.perf_counter())


async def _bare(here: Place) -> float:
    return await bare_rows.inserted(here.dsn, _SECONDS, connections=1)


BENCH: Final = Bench(tuple(_ROWS), run)
