"""Workers that run beside a block of code, and have ended when it has, with what they had in hand."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any, Final, Protocol, TypeVar

from baohuang.metrics.bugs import Bugs

_CANCELLED_AGAIN_SECONDS: Final = 1.0
_T = TypeVar("_T")


class Worker(Protocol):
    """What runs until it is cancelled: a relay, a consumer."""

    async def run(self) -> None:
        """Run for ever."""


@asynccontextmanager
async def at_work(*workers: Worker, bugs: Bugs | None = None) -> AsyncIterator[None]:
    """Run workers until the end of the block. One that fails, which takes a bug, is counted and begins again."""
    counted = bugs or Bugs()
    kept = [(type(worker).__name__, worker.run) for worker in workers]
    for name, _ in kept:
        counted.expect(name)
    tasks = [asyncio.create_task(counted.begun_again(name, run), name=name) for name, run in kept]
    try:
        yield
    finally:
        await ended(tasks)


async def ended(tasks: "Iterable[asyncio.Task[None]]") -> None:
    """Cancel tasks until they have ended: once is not enough where the NATS client swallows it, as it does at times.

    That is waited for even when this is cancelled meanwhile: left alone, they would go on.
    """
    left = set(tasks)
    cancelled: asyncio.CancelledError | None = None
    while left:
        for task in left:
            task.cancel()
        try:
            _, left = await asyncio.wait(left, timeout=_CANCELLED_AGAIN_SECONDS)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled


async def whole(work: Coroutine[Any, Any, _T]) -> _T:
    """Do work to its end, even if whoever waits for it is cancelled meanwhile: he hears of that at its end.

    Cancelled again, he lets go of it: so `ended` gives it a second.
    """
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        raise
