"""The database's clock, read without asking it each time: the only clock that dates anything."""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import structlog

from baohuang.eventlog.port import EventLog, LogUnavailable
from baohuang.rules.state import Instant

_MEASURE_EVERY_SECONDS = 30.0
_QUICK_SECONDS = 0.2
"""A reading that took longer says too little of the moment it was taken at."""
_READINGS = 3
"""How many a measurement takes until one is quick."""
_LONG_AGO = datetime.fromtimestamp(0, UTC)
_log = structlog.get_logger("table_service")


class DatabaseClock:
    """This process's monotonic clock plus the offset to the database's, measured again every 30 seconds."""

    def __init__(self, log: EventLog, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._log = log
        self._monotonic = monotonic
        self._epoch = _LONG_AGO

    async def measure(self) -> None:
        """Measure the offset anew, half the round trip taken off. Raises LogUnavailable.

        Without a quick reading the last measurement stands; if there is none, the quickest reading is taken.
        """
        readings: list[tuple[float, datetime]] = []
        while len(readings) < _READINGS:
            seconds, epoch = await self._read()
            readings.append((seconds, epoch))
            if seconds <= _QUICK_SECONDS:
                self._epoch = epoch
                return
        if self._epoch == _LONG_AGO:
            self._epoch = min(readings)[1]

    async def _read(self) -> tuple[float, datetime]:
        """Return how long a reading took, in seconds, and the moment at which our monotonic clock was zero by it."""
        before = self._monotonic()
        reading = await self._log.clock()
        after = self._monotonic()
        return after - before, reading - timedelta(seconds=(before + after) / 2)

    async def keep_measured(self) -> None:
        """Measure for ever; to be run as a task, after a first `measure`. Without an answer the last one stands."""
        while True:
            await asyncio.sleep(_MEASURE_EVERY_SECONDS)
            try:
                await self.measure()
            except LogUnavailable:
                _log.warning("clock not measured")

    def now(self) -> datetime:
        """Return the database's time, UTC."""
        return self._epoch + timedelta(seconds=self._monotonic())


def moment(at: Instant) -> datetime | None:
    """Return the instant as an aware UTC datetime, None for NEVER."""
    return datetime.fromisoformat(at) if at else None
