"""How long a client waits and how often it asks again."""

from collections.abc import Callable
from dataclasses import dataclass

import grpc
from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_exponential, wait_random

from baohuang.client.errors import is_passing


@dataclass(frozen=True, slots=True)
class Patience:
    """Bounds of waiting, in seconds. Waits double from the first to the longest, with as much jitter as the first.

    As they stand a client outlasts a service that is away for half a minute: a restart, with time to spare.
    """

    call_seconds: float = 5.0
    """The deadline of one attempt."""
    attempts: int = 20
    first_wait_seconds: float = 0.05
    longest_wait_seconds: float = 2.0
    silence_seconds: float = 40.0
    """How long a watched stream may say nothing: more than two of the service's heartbeats."""
    spread_seconds: float = 1.0
    """Over how long watchers spread when the service sends them away, so that they do not come back all at once."""

    def attempt(self, again: Callable[[BaseException], bool]) -> AsyncRetrying:
        """Return attempts to loop over: the next one comes after an exception of which `again` is true.

        The last one's exception comes out as it is. Nothing is written or logged about them: a library is silent.
        """
        return AsyncRetrying(
            retry=retry_if_exception(again),
            stop=stop_after_attempt(self.attempts),
            wait=wait_exponential(multiplier=self.first_wait_seconds, max=self.longest_wait_seconds)
            + wait_random(0, self.first_wait_seconds),
            reraise=True,
        )


def is_transient(error: BaseException) -> bool:
    """Tell whether the same request may be sent again after this."""
    return isinstance(error, grpc.aio.AioRpcError) and is_passing(error)
