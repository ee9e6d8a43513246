"""The commands of one stream: those to one table one after the other, those to different ones at the same time."""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from opentelemetry.trace import Span

from baohuang.rules.state import TableId
from baohuang.tracing import spans
from table_service.handler import CommandHandler
from table_service.request import Done, Request

IN_FLIGHT: Final = 64
"""Commands of a stream that may be under way; then no more are taken."""
Answer = Callable[["Order", "asyncio.Task[Done]"], None]
"""Told of every command that is settled, with the task that settled it."""


@dataclass(frozen=True, slots=True)
class Order:
    """A command, and the span that it is in its client's trace, if that is told."""

    request: Request
    span: Span | None = None


class Orders:
    """Hands commands to the handler in their order."""

    def __init__(self, handler: CommandHandler, answer: Answer, most: int = IN_FLIGHT) -> None:
        self._handler = handler
        self._answer = answer
        self._slots = asyncio.Semaphore(most)
        self._waiting: dict[TableId, deque[Order]] = {}
        self._idle = asyncio.Event()
        self._idle.set()

    async def take(self, order: Order) -> None:
        """Carry a command out in its turn; return at once, unless too many are under way."""
        await self._slots.acquire()
        waiting = self._waiting.get(order.request.table_id)
        if waiting is not None:
            waiting.append(order)
            return
        self._waiting[order.request.table_id] = deque()
        self._idle.clear()
        self._start(order)

    async def finish(self) -> None:
        """Wait until all that was taken is answered."""
        await self._idle.wait()

    def drop(self) -> None:
        """Forget what has not begun: there is nobody left to answer."""
        for waiting in self._waiting.values():
            waiting.clear()

    def _start(self, order: Order) -> None:
        with spans.within(order.span):
            task = self._handler.start(order.request)
        task.add_done_callback(partial(self._settled, order))

    def _settled(self, order: Order, task: "asyncio.Task[Done]") -> None:
        if task.cancelled():
            return  # by a loop that is closing
        self._answer(order, task)
        self._slots.release()
        waiting = self._waiting[order.request.table_id]
        if waiting:
            self._start(waiting.popleft())
            return
        del self._waiting[order.request.table_id]
        if not self._waiting:
            self._idle.set()
