"""How many streams one player may have open at a time on one replica, over however many connections.

What one stream carries that would have been a stream of its own, such as a watch, counts as one.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from baohuang.rpc.auth import Caller, CallerId, Role
from baohuang.rpc.errors import Exhausted, Reason

MOST_OF_ANYBODY: Final = 1_000
"""How many streams that ask for no identity may be open: a balancer's, and those of whoever looks around."""


class StreamLimiter:
    """Counts the open streams of players, and of those who say no name; operators and services are let through."""

    def __init__(self, most: int) -> None:
        self._most: Final = most
        self._open: Final[Counter[CallerId]] = Counter()
        self._open_to_anybody = 0

    @contextmanager
    def stream_of(self, caller: Caller) -> Iterator[None]:
        """Count a stream for as long as the block lasts. Raises Exhausted (TOO_MANY_STREAMS), which is not counted."""
        if caller.role is not Role.PLAYER:
            yield
            return
        if self._open[caller.player] >= self._most:
            raise Exhausted(Reason.TOO_MANY_STREAMS, f"you have {self._most} streams open here: end one first")
        self._open[caller.player] += 1
        try:
            yield
        finally:
            self._open[caller.player] -= 1
            if not self._open[caller.player]:
                del self._open[caller.player]

    @contextmanager
    def stream_of_anybody(self) -> Iterator[None]:
        """Count a stream of health or reflection, which anybody may open: all of them together have one bound.

        Raises Exhausted (TOO_MANY_STREAMS), which is not counted.
        """
        if self._open_to_anybody >= MOST_OF_ANYBODY:
            raise Exhausted(Reason.TOO_MANY_STREAMS, f"{MOST_OF_ANYBODY} streams of this kind are open here already")
        self._open_to_anybody += 1
        try:
            yield
        finally:
            self._open_to_anybody -= 1
