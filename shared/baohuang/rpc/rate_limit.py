"""How fast one player may call: a token bucket each, per replica.

A bucket is kept as the one instant at which it will be full again (GCRA): a call moves it on by the time that one
token takes, and is refused when that would be more than `burst` tokens ahead of now.
"""

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from baohuang.rpc.auth import Caller, CallerId, Role
from baohuang.rpc.errors import Exhausted, Reason

PLAYERS_HELD: Final = 10_000
RETRY_AFTER_KEY: Final = "retry_after_ms"


@dataclass(frozen=True, slots=True)
class RateLimit:
    """Calls a second in the long run, infinity for no limit, and at once after a pause (at least 1)."""

    per_second: float
    burst: int


class RateLimiter:
    """Admits calls of players at the rate given; operators and services are let through.

    Of the `players_held` who called last the buckets are kept; whoever is forgotten starts with a full one.
    """

    def __init__(
        self,
        limit: RateLimit,
        monotonic: Callable[[], float] = time.monotonic,
        players_held: int = PLAYERS_HELD,
    ) -> None:
        self._limit = limit
        self._token_seconds = 1 / limit.per_second
        self._ahead_seconds = (limit.burst - 1) / limit.per_second
        self._monotonic = monotonic
        self._players_held = players_held
        self._full_at: OrderedDict[CallerId, float] = OrderedDict()

    def admit(self, caller: Caller) -> None:
        """Count a call. Raises Exhausted (RATE_LIMITED, metadata `retry_after_ms`), which is not counted."""
        if caller.role is not Role.PLAYER:
            return
        now = self._monotonic()
        full_at = max(self._full_at.get(caller.player, now), now)
        wait = full_at - now - self._ahead_seconds
        if wait > 0:
            raise self._exhausted(wait)
        self._full_at[caller.player] = full_at + self._token_seconds
        self._full_at.move_to_end(caller.player)
        if len(self._full_at) > self._players_held:
            self._full_at.popitem(last=False)

    def _exhausted(self, wait_seconds: float) -> Exhausted:
        limit, milliseconds = self._limit, math.ceil(wait_seconds * 1000)
        message = f"more than {limit.per_second:g} calls a second, or {limit.burst} at once: wait {milliseconds} ms"
        return Exhausted(Reason.RATE_LIMITED, message, {RETRY_AFTER_KEY: str(milliseconds)})
