"""Tables that append without a pause: `python -m tests.bench.tables DSN TABLES SECONDS` is one such process.

It says "ready" when it is connected, starts on a line from its standard input, and prints how many events it appended.
"""

import asyncio
import sys
import time

import uvloop

from baohuang.eventlog.port import Append, Appended, EventLog
from baohuang.eventlog.postgres.log import open_log

from .hands import following, opening


async def appended(dsn: str, tables: int, seconds: float) -> float:
    """Return the events a second that so many tables append through one process' group commit."""
    async with open_log(dsn, readers=1) as log:
        return await _rate(log, tables, seconds)


async def _rate(log: EventLog, tables: int, seconds: float) -> float:
    start = time.perf_counter()
    counts = await asyncio.gather(*(_table(log, start + seconds) for _ in range(tables)))
    return sum(counts) / (time.perf_counter() - start)


async def _table(log: EventLog, end: float) -> int:
    wanted = opening()
    count = 0
    while time.perf_counter() < end:
        last = await _append(log, wanted)
        wanted = following(last)
        count += 1
    return count


async def _append(log: EventLog, wanted: Append) -> Appended:
    outcome = await log.append(wanted)
    if not isinstance(outcome, Appended):
        raise TypeError(f"not appended: {outcome}")
    return outcome


async def _replica(dsn: str, tables: int, seconds: float) -> None:
    async with open_log(dsn, readers=1) as log:
        await log.clock()
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        print(await _rate(log, tables, seconds), flush=True)


if __name__ == "__main__":
    uvloop.run(_replica(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])))
