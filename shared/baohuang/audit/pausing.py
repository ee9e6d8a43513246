"""Letting others have a turn in the middle of long work: deciding again takes a processor, and its thread with it."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

Pause = Callable[[], Awaitable[None]]
"""Called between the pieces that work can be cut into."""

_PIECE_SECONDS: Final = 0.002
_LONGEST_SECONDS: Final = 0.02
"""Longer than any piece: what took longer was waiting, for a database or a reader, and no work."""


async def never() -> None:
    """Do not pause: nobody else needs the thread."""


class HalfTheTime:
    """Pauses every few milliseconds for as long as was worked, so that the event loop has half of the time or more."""

    __slots__ = ("_now", "_since")

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._since = now()

    async def __call__(self) -> None:
        """Pause, if it is time to."""
        worked = self._now() - self._since
        if worked >= _PIECE_SECONDS:
            await asyncio.sleep(min(worked, _LONGEST_SECONDS))
            self._since = self._now()
