"""Plays a second while a verification of the whole log runs beside them, against those without.

The verification is the `baohuang verify` of operators: a process of its own, with connections of its own, on a log of
tables that were played before. Both ways take turns in rounds on one table service; the medians are compared.
"""

import asyncio
import statistics
import sys
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import asyncpg

from baohuang.eventlog.postgres.log import open_log

from .golden_tables import play_again
from .plays import open_table, start_hand
from .plays_load import Shape, Target, measured
from .plays_script import DEV_SEED, recorded
from .plays_seats import StreamSeat
from .processes import serving
from .row import Bench, Row

_ROUNDS: Final = 5
_COPIES: Final = 4
_WARM_UP: Final = Shape(5, 1, 0.5)
_SHAPE: Final = Shape(50, 1, 1.5, 1500)
_READING: Final = """
select from pg_stat_activity where application_name = 'baohuang event log' and query like '-- read_stream:%'
    and pid <> all ($1)
"""
_LOG_READERS: Final = "select pid from pg_stat_activity where application_name = 'baohuang event log'"


async def run(_wanted: Sequence[str]) -> Sequence[Row]:
    """Measure by turns."""
    script = await recorded()
    alone: list[float] = []
    beside: list[float] = []
    async with serving(1, {"BAOHUANG_DEV_SEED": str(DEV_SEED)}) as served:
        async with open_log(served.dsn, readers=1) as log:
            await play_again(log, _COPIES)
        target = Target(served.services[0].address, open_table, start_hand)
        await measured(target, script, StreamSeat, _WARM_UP)
        for _ in range(_ROUNDS):
            alone.append((await measured(target, script, StreamSeat, _SHAPE)).rate)
            async with _verification(served.dsn):
                beside.append((await measured(target, script, StreamSeat, _SHAPE)).rate)
    value, baseline = statistics.median(beside), statistics.median(alone)
    return [Row("play.beside_verification", value, "plays/s", baseline, "the same without a verification")]


@asynccontextmanager
async def _verification(dsn: str) -> AsyncIterator[None]:
    """Verify the whole log during the block; raises RuntimeError if that was over before its end."""
    watching = await asyncpg.connect(dsn)
    others = [row["pid"] for row in await watching.fetch(_LOG_READERS)]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "command_line", "verify", "--postgres-dsn", dsn, stdout=DEVNULL
    )
    try:
        await _begun(watching, others)
        yield
        if process.returncode is not None:
            raise RuntimeError("the verification was over before the measurement")
    finally:
        process.terminate()
        await process.wait()
        await watching.close()


async def _begun(watching: Any, others: Sequence[int]) -> None:
    """Wait until somebody new reads streams of the log. Raises TimeoutError."""
    async with asyncio.timeout(60):
        while not await watching.fetch(_READING, others):  # noqa: ASYNC110 (of another process, which sets no event here)
            await asyncio.sleep(0.05)


BENCH: Final = Bench(("play.beside_verification",), run)
