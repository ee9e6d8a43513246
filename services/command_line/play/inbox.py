"""What a session waits for, in one queue: moments of the table, lines typed, the end of the input."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from baohuang.client import Moment
from command_line.play.keyboard import LineEditor

_TICK_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class Line:
    """A line that the person typed."""

    text: str


@dataclass(frozen=True, slots=True)
class InputEnded:
    """There will be no more lines."""


class Inbox:
    """Takes what comes from the table and from the keyboard, and gives it in that order."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Moment | Line | InputEnded | None] = asyncio.Queue()
        self._editor = LineEditor(lambda text: self.put(Line(text)), lambda: self.put(InputEnded()))

    def put(self, item: Moment | Line | InputEnded) -> None:
        """Add one more."""
        self._queue.put_nowait(item)

    def typed(self, data: bytes) -> None:
        """Take bytes from the keyboard; b"" is their end."""
        self._editor.feed(data)
        self._queue.put_nowait(None)

    async def get(self, refresh: Callable[[str], None]) -> Moment | Line | InputEnded:
        """Return the next. Meanwhile `refresh` is called with what is half typed, at each key and every second."""
        while True:
            try:
                async with asyncio.timeout(_TICK_SECONDS):
                    item = await self._queue.get()
            except TimeoutError:
                item = None
            if item is not None:
                return item
            refresh(self._editor.typed)
