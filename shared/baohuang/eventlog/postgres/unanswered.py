"""What is done about a flush that is not answered: it is waited for as long as the server has it in hand.

    no answer for long ──asked over another connection──► the server still works on it: wait on
                                                     └──► it does not, or says nothing: drop the connection

A commit waits for its synchronous standby, without end if there is none, and nobody may cancel it: PostgreSQL would
take that for leave to commit without, and show to all what a failover then loses. A connection that is dropped cancels
nothing; a server that is gone took its work with it, and what it may have done the flush finds when it is sent again.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, Self

from baohuang.eventlog.postgres.connections import FAILURES, Pool
from baohuang.eventlog.postgres.queries import query

AtWork = Callable[[int], Awaitable[bool]]
"""Tells whether the server process of this number is there."""
_ASKING_SECONDS: Final = 2.0
_AT_WORK: Final = query("at_work")


def asked_over(pool: Pool) -> AtWork:
    """Return what asks for server processes over a pool."""

    async def at_work(process: int) -> bool:
        try:
            async with asyncio.timeout(_ASKING_SECONDS):
                return bool(await pool.fetchval(_AT_WORK, process))
        except FAILURES:
            return False

    return at_work


class Watch:
    """Around statements of one connection: looks after them when they are not answered for so many seconds."""

    def __init__(self, connection: Any, process: int, at_work: AtWork, seconds: float) -> None:
        self._connection: Final = connection
        self._process: Final = process
        self._at_work: Final = at_work
        self._seconds: Final = seconds
        self._timer: asyncio.TimerHandle | None = None
        self._looking: asyncio.Task[None] | None = None

    @property
    def is_on(self) -> bool:
        """Tell whether a statement is under way."""
        return self._timer is not None

    def __enter__(self) -> Self:
        self._wait()
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._looking is not None:
            self._looking.cancel()

    def _wait(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._look)

    def _look(self) -> None:
        self._looking = asyncio.create_task(self._looked())

    async def _looked(self) -> None:
        if await self._at_work(self._process):
            self._wait()
        else:
            self._connection.terminate()
