"""The database's clock, read without asking it each time: the only clock that dates anything."""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import structlog

from baohuang.eventlog.port import EventLog, LogUnavailable
from baohuang.rules.state import Instant

_MEASURE_EVERY_SECONDS = 30.0
_log = structlog.get_logger("table_service")


class DatabaseClock:
    """This process's monotonic clock plus the offset to the database's, measured again every 30 seconds."""

    def __init__(self, log: EventLog, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._log = log
        self._monotonic = monotonic
        self._epoch = datetime.fromtimestamp(0, UTC)

    async def measure(self) -> None:
        """Measure the offset anew, half the round trip taken off. Raises LogUnavailable."""
        before = self._monotonic()
        reading = await self._log.clock()
        self._epoch = reading - timedelta(seconds=(before + self._monotonic()) / 2)

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
