"""One after the other, and the callers in turn: whoever asks for much waits for his own, and others do not."""

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from baohuang.rpc.errors import Exhausted, Reason
from baohuang.rpc.rate_limit import RETRY_AFTER_KEY

_RETRY_AFTER_MS: Final = 1000


class Turns:
    """Lets one at a time in; whoever waits has his turn after at most one of each other caller.

    `most` are a caller's at once, the one that is in among them.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._asked: Counter[str] = Counter()
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self._taken = False

    @asynccontextmanager
    async def turn(self, caller: str) -> AsyncIterator[None]:
        """Wait for the caller's turn, and have it for as long as the block lasts.

        Raises Exhausted (RATE_LIMITED, metadata `retry_after_ms`) at once when he has asked for too many.
        """
        if self._asked[caller] >= self._most:
            message = f"at most {self._most} of these at once: wait for one of yours"
            raise Exhausted(Reason.RATE_LIMITED, message, {RETRY_AFTER_KEY: str(_RETRY_AFTER_MS)})
        self._asked[caller] += 1
        try:
            await self._come(caller)
            try:
                yield
            finally:
                self._pass_on(caller)
        finally:
            self._asked -= Counter((caller,))

    async def _come(self, caller: str) -> None:
        if not self._taken:
            self._taken = True
            return
        come = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(caller, deque()).append(come)
        try:
            await come
        except asyncio.CancelledError:
            if come.cancelled():
                self._forget(caller, come)
            else:  # at the very moment at which it came
                self._pass_on(caller)
            raise

    def _pass_on(self, caller: str) -> None:
        """Let the next one in, who had his last turn longest ago."""
        if caller in self._waiting:
            self._waiting.move_to_end(caller)
        while self._waiting:
            one = next(iter(self._waiting))
            come = self._waiting[one][0]
            self._forget(one, come)
            if not come.done():  # else it was given up, at this very moment
                come.set_result(None)
                return
        self._taken = False

    def _forget(self, caller: str, come: asyncio.Future[None]) -> None:
        own = self._waiting.get(caller, deque())
        if come in own:
            own.remove(come)
        if not own:
            self._waiting.pop(caller, None)
