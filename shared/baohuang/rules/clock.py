"""Instants: readings of the one clock, as the log writes them."""

from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

from baohuang.rules.state import Instant

NEVER: Final = Instant("")
"""No instant at all. Instants have one fixed form, so they compare as texts."""

_WHOLE_SECONDS: Final = len("2026-01-31T08:05:09")


def later(moment: Instant, seconds: int) -> Instant:
    """Return the instant so many seconds after `moment`."""
    return Instant(_shifted(moment[:_WHOLE_SECONDS], seconds) + moment[_WHOLE_SECONDS:])


@lru_cache(maxsize=1024)
def _shifted(whole: str, seconds: int) -> str:
    """Return the text of a whole second, shifted: the same for all that is decided within it."""
    return (datetime.fromisoformat(whole) + timedelta(seconds=seconds)).isoformat(timespec="seconds")
