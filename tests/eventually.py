"""Waiting for what has to come true, with an end to it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def eventually(look: Callable[[], Awaitable[T]], within: float = 10.0) -> T:
    """Look again and again until what is seen is truthy, and return it; TimeoutError after `within` seconds."""
    async with asyncio.timeout(within):
        while not (seen := await look()):  # noqa: ASYNC110 (of another process, which sets no event here)
            await asyncio.sleep(0.005)
        return seen
