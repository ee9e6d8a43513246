"""What fails again and again: told when it begins, seldom while it lasts, and when it is over."""

import time
from collections.abc import Callable
from typing import Any, Final

AGAIN_SECONDS: Final = 60.0


class Trouble:
    """Tells of one thing that is tried again and again.

    `log` is told `begins` as a warning with the reason, at first and once in `again_seconds`, and `ends` in the end.
    """

    def __init__(
        self,
        log: Any,
        begins: str,
        ends: str,
        again_seconds: float = AGAIN_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._log: Final = log
        self._begins: Final = begins
        self._ends: Final = ends
        self._again_seconds: Final = again_seconds
        self._clock: Final = clock
        self._since: float | None = None
        self._tell_at = 0.0

    @property
    def seconds(self) -> float:
        """For how long it has failed; 0 if it does not. May be read from another thread."""
        since = self._since
        return 0.0 if since is None else self._clock() - since

    def failed(self, why: str) -> None:
        """Note that it failed once more."""
        now = self._clock()
        if self._since is None:
            self._since = self._tell_at = now
        if now >= self._tell_at:
            self._tell_at = now + self._again_seconds
            self._log.warning(self._begins, why=why, for_seconds=round(now - self._since))

    def went_well(self) -> None:
        """Note that it did not fail."""
        if self._since is not None:
            self._log.info(self._ends, after_seconds=round(self.seconds))
            self._since = None
