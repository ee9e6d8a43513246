"""How long a client waits and how often it asks again."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import grpc
import stamina

from baohuang.client.errors import TRANSIENT


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

    def attempt(self, again: Callable[[Exception], bool]) -> AsyncIterator[stamina.Attempt]:
        """Return attempts to loop over: the next one comes after an exception of which `again` is true."""
        return stamina.retry_context(
            on=again,
            attempts=self.attempts,
            timeout=None,
            wait_initial=self.first_wait_seconds,
            wait_max=self.longest_wait_seconds,
            wait_jitter=self.first_wait_seconds,
        )


def is_transient(error: Exception) -> bool:
    """Tell whether the same request may be sent again after this."""
    return isinstance(error, grpc.aio.AioRpcError) and error.code() in TRANSIENT
