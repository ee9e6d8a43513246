"""Rebuilding a table from its log, beside a bare SELECT of the same rows over the same kind of connection."""

import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Final

import asyncpg

from baohuang.embedded.postgres import EmbeddedPostgres
from baohuang.eventlog.port import StreamId
from baohuang.eventlog.postgres.log import PostgresLog, open_log
from baohuang.eventlog.postgres.migrations import migrate
from baohuang.rules.state import TableId
from table_service.tables import Tables

from .recorded import EVENTS_A_TABLE, record_table
from .row import Bench, Row

_ROUNDS: Final = 5
_SECONDS: Final = 0.6
_SELECT: Final = """
select position, stream_id, version, type, data, actor, request_id, recorded_at, salt, hash
from eventlog.events where stream_id = $1 order by version
"""


async def run(_wanted: Sequence[str]) -> Sequence[Row]:
    """Measure both in turn, in rounds, and compare the medians."""
    with tempfile.TemporaryDirectory() as folder:
        server = EmbeddedPostgres(Path(folder))
        dsn = await server.start()
        try:
            await asyncio.to_thread(migrate, dsn)
            return [await _row(dsn)]
        finally:
            await server.destroy()


async def _row(dsn: str) -> Row:
    bare = await asyncpg.connect(dsn)
    async with open_log(dsn, readers=1) as log:
        table_id = await record_table(log, random.Random(1))  # noqa: S311 - no secret
        rebuilt: list[float] = []
        selected: list[float] = []
        for _ in range(_ROUNDS):
            selected.append(await _rate(lambda: _select(bare, table_id)))
            rebuilt.append(await _rate(lambda: _rebuild(log, table_id)))
    await bare.close()
    return Row("rebuild", statistics.median(rebuilt), "events/s", statistics.median(selected), "bare SELECT")


async def _rate(once: Callable[[], Awaitable[Any]]) -> float:
    times = 0
    start = time.perf_counter()
    while time.perf_counter() - start < _SECONDS:
        await once()
        times += 1
    return times * EVENTS_A_TABLE / (time.perf_counter() - start)


async def _select(connection: Any, table_id: TableId) -> None:
    rows = await connection.fetch(_SELECT, StreamId(table_id))
    if len(rows) != EVENTS_A_TABLE:
        raise ValueError(f"{len(rows)} rows")


async def _rebuild(log: PostgresLog, table_id: TableId) -> None:
    held = await Tables(log, lambda _id, _happened: None).hold(table_id)
    if held.version != EVENTS_A_TABLE:
        raise ValueError(f"rebuilt to version {held.version}")


BENCH: Final = Bench(("rebuild",), run)
