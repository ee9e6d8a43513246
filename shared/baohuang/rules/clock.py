"""Instants: readings of the one clock, as the log writes them."""

from datetime import datetime, timedelta
from typing import Final

from baohuang.rules.state import Instant

NEVER: Final = Instant("")
"""No instant at all. Instants have one fixed form, so they compare as texts."""


def later(moment: Instant, seconds: int) -> Instant:
    """Return the instant so many seconds after `moment`."""
    shifted = datetime.fromisoformat(moment) + timedelta(seconds=seconds)
    return Instant(shifted.isoformat(timespec="microseconds")[:26] + "Z")
