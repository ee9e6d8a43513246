"""Looking at how much a consumer could not apply, which its service's tables know, whoever set it aside and when."""

import asyncio
from typing import Final

import structlog

from baohuang.database.pool import FAILURES, Pool
from baohuang.stream.counts import ConsumerCounts
from baohuang.stream.queries import query

LOOK_SECONDS: Final = 5.0
"""How often it is looked; Prometheus asks four times a minute."""
_COUNT: Final = query("set_aside_count")
_log = structlog.get_logger("stream")


class Unsettled:
    """Keeps `set_aside` of a consumer's counts: `run` it as a task, beside the consumer and whether that runs or not.

    A count of what this replica set aside itself would forget it at a restart, and never know what another one did.
    """

    def __init__(
        self,
        pool: Pool,
        consumer: str,
        counts: ConsumerCounts,
        count: str = _COUNT,
        every_seconds: float = LOOK_SECONDS,
    ) -> None:
        """Take a pool whose schema has the consumer's tables, and a query of one number by the consumer's name."""
        self._pool: Final = pool
        self._consumer: Final = consumer
        self._counts: Final = counts
        self._count: Final = count
        self._every_seconds: Final = every_seconds

    async def run(self) -> None:
        """Look for ever. While the database does not answer, what was found last stays."""
        while True:
            try:
                self._note(await self._pool.fetchval(self._count, self._consumer))
            except FAILURES as error:
                _log.debug("set aside not looked for", consumer=self._consumer, error=type(error).__name__)
            await asyncio.sleep(self._every_seconds)

    def _note(self, found: int) -> None:
        """Tell of a change, also back to nothing."""
        if found != (self._counts.set_aside or 0):
            tell = _log.error if found else _log.info
            tell("messages are set aside", consumer=self._consumer, messages=found)
        self._counts.set_aside = found
