"""What a stream still has to write: one queue, emptied by one writer."""

import asyncio
from collections import deque
from typing import Final

UPDATES_WAITING: Final = 16
"""Messages that may wait to be written before updates are held back, in their own table's queue."""


class Outbox:
    """Messages to be written, in order, and how the stream ends behind them.

    Answers are taken at once, being as few as the commands under way; updates wait for room.
    """

    def __init__(self, room: int = UPDATES_WAITING) -> None:
        self._limit = room
        self._waiting: deque[bytes] = deque()
        self._arrived = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._ended = False
        self._failure: BaseException | None = None
        self._busy = False

    def put(self, message: bytes) -> None:
        """Queue a message, whatever waits already."""
        self._busy = True
        self._waiting.append(message)
        if len(self._waiting) >= self._limit:
            self._room.clear()
        self._arrived.set()

    async def has_room(self) -> None:
        """Wait until few enough messages wait for another update."""
        await self._room.wait()

    def was_silent(self) -> bool:
        """Tell whether nothing was queued since this was asked last."""
        busy, self._busy = self._busy, False
        return not busy

    def end(self, failure: BaseException | None = None) -> None:
        """End the stream once all that waits is written, with an error if one is given. The first end counts."""
        if not self._ended:
            self._ended, self._failure = True, failure
            self._arrived.set()

    async def next(self) -> bytes | None:
        """Return the next message when there is one, None at the end. Raises what the stream ends with."""
        while not self._waiting and not self._ended:
            self._arrived.clear()
            await self._arrived.wait()
        if not self._waiting:
            if self._failure is not None:
                raise self._failure
            return None
        message = self._waiting.popleft()
        if len(self._waiting) == self._limit - 1:
            self._room.set()
        return message
