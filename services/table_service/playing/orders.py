"""The commands of one stream: those to one table one after the other, those to different ones at the same time."""

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final

from baohuang.rules.state import TableId
from table_service.handler import CommandHandler
from table_service.request import Done, Request

IN_FLIGHT: Final = 64
"""Commands of a stream that may be under way; then no more are taken."""
Answer = Callable[[Request, "asyncio.Task[Done]"], None]
"""Told of every command that is settled, with the task that settled it."""


class Orders:
    """Hands commands to the handler in their order."""

    def __init__(self, handler: CommandHandler, answer: Answer, most: int = IN_FLIGHT) -> None:
        self._handler = handler
        self._answer = answer
        self._slots = asyncio.Semaphore(most)
        self._waiting: dict[TableId, deque[Request]] = {}
        self._idle = asyncio.Event()
        self._idle.set()

    async def take(self, request: Request) -> None:
        """Carry a command out in its turn; return at once, unless too many are under way."""
        await self._slots.acquire()
        waiting = self._waiting.get(request.table_id)
        if waiting is not None:
            waiting.append(request)
            return
        self._waiting[request.table_id] = deque()
        self._idle.clear()
        self._start(request)

    async def finish(self) -> None:
        """Wait until all that was taken is answered."""
        await self._idle.wait()

    def drop(self) -> None:
        """Forget what has not begun: there is nobody left to answer."""
        for waiting in self._waiting.values():
            waiting.clear()

    def _start(self, request: Request) -> None:
        self._handler.start(request).add_done_callback(partial(self._settled, request))

    def _settled(self, request: Request, task: "asyncio.Task[Done]") -> None:
        if task.cancelled():
            return  # by a loop that is closing
        self._answer(request, task)
        self._slots.release()
        waiting = self._waiting[request.table_id]
        if waiting:
            self._start(waiting.popleft())
            return
        del self._waiting[request.table_id]
        if not self._waiting:
            self._idle.set()
