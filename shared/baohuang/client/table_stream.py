"""One table's part of a Play stream, to be read as if it were a stream of its own."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

from baohuang.client.errors import ClientError
from baohuang.client.reading import END
from baohuang.gen.table.v1 import watch_pb2

MESSAGES_WAITING: Final = 1024
"""How far a reader may fall behind; then his part ends, and he resumes after the version he has."""


class TableStream:
    """Messages of the table, as they come; `cancelled` is told when its reader wants no more."""

    def __init__(self, request: watch_pb2.WatchTableRequest, cancelled: "Callable[[TableStream], None]") -> None:
        self.request = request
        self._cancelled = cancelled
        self._waiting: deque[watch_pb2.WatchTableResponse] = deque()
        self._arrived = asyncio.Event()
        self._ended = False
        self._error: ClientError | None = None

    def take(self, message: watch_pb2.WatchTableResponse) -> None:
        """Queue a message."""
        if len(self._waiting) == MESSAGES_WAITING:
            self.end()
        if not self._ended:
            self._waiting.append(message)
            self._arrived.set()

    def end(self, error: ClientError | None = None) -> None:
        """End it behind what waits, with an error if one is given."""
        if not self._ended:
            self._ended, self._error = True, error
            self._arrived.set()

    async def read(self) -> object:
        """Return the next message, END at the end. Raises the ClientError it ends with."""
        while not self._waiting and not self._ended:
            self._arrived.clear()
            await self._arrived.wait()
        if self._waiting:
            return self._waiting.popleft()
        if self._error is not None:
            raise self._error
        return END

    def cancel(self) -> object:
        """Want no more of it."""
        return self._cancelled(self)
