"""The loop that purges what was done long ago, in small batches, so that nobody waits for it."""

import asyncio
from typing import Final

import structlog

from baohuang.database.pool import FAILURES, Pool
from matchmaking_service.queries import query

_PURGE: Final = query("purge")
_AT_ONCE: Final = 200
_BETWEEN_SECONDS: Final = 0.1
_log = structlog.get_logger("matchmaking")


class Purging:
    """Purges rows that are older than `keep_seconds`. Every replica does; what another has locked is left to it."""

    def __init__(self, pool: Pool, keep_seconds: float, look_seconds: float) -> None:
        self._pool: Final = pool
        self._keep_seconds: Final = keep_seconds
        self._look_seconds: Final = look_seconds

    async def run(self) -> None:
        """Run for ever."""
        while True:
            more = await self._purged()
            await asyncio.sleep(_BETWEEN_SECONDS if more else self._look_seconds)

    async def _purged(self) -> int:
        try:
            purged: int = await self._pool.fetchval(_PURGE, self._keep_seconds, _AT_ONCE)
        except FAILURES as error:
            _log.warning("nothing purged", error=type(error).__name__)
            return 0
        return purged
