"""Durable appends a second: the whole log through group commit, beside bare single-row inserts.

Log and baseline take turns in rounds on one embedded PostgreSQL with its defaults (fsync on), so that a noisy machine
bothers both; the medians of the rounds are compared.
"""

import asyncio
import statistics
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final

import asyncpg

from baohuang.embedded.postgres import EmbeddedPostgres
from baohuang.eventlog.postgres.migrations import migrate

from . import bare_rows, replicas, tables
from .row import Bench, Row

_ROUNDS: Final = 5
_SECONDS: Final = 1.5

Measure = Callable[[str, float], Awaitable[float]]
"""Give the events a second on the database of a DSN, over so many seconds."""


def _one_process(count: int) -> Measure:
    return lambda dsn, seconds: tables.appended(dsn, count, seconds)


def _three_processes(count: int) -> Measure:
    return lambda dsn, seconds: replicas.appended(dsn, count, seconds, processes=3)


_MEASURES: Final[dict[str, Measure]] = {
    "append.1": _one_process(1),
    "append.8": _one_process(8),
    "append.32": _one_process(32),
    "append.200": _one_process(200),
    "append.32.3p": _three_processes(32),
    "append.200.3p": _three_processes(200),
}


async def run(wanted: Sequence[str]) -> Sequence[Row]:
    """Measure the wanted rows in rounds, each row next to a baseline of its own."""
    with tempfile.TemporaryDirectory() as folder:
        server = EmbeddedPostgres(Path(folder))
        dsn = await server.start()
        try:
            await asyncio.to_thread(migrate, dsn)
            return [await _row(dsn, name) for name in wanted]
        finally:
            await server.destroy()


async def _row(dsn: str, name: str) -> Row:
    values: list[float] = []
    baselines: list[float] = []
    for _ in range(_ROUNDS):
        for measure, rates in ((bare_rows.inserted, baselines), (_MEASURES[name], values)):
            await _settle(dsn)
            rates.append(await measure(dsn, _SECONDS))
    return Row(
        name, statistics.median(values), "events/s", statistics.median(baselines), "bare inserts, 32 connections"
    )


async def _settle(dsn: str) -> None:
    """Write out what the measurement before left, or the next one pays for it."""
    connection = await asyncpg.connect(dsn)
    await connection.execute("checkpoint")
    await connection.close()


BENCH: Final = Bench(tuple(_MEASURES), run)
