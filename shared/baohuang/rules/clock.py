"""Instants: readings of the one clock, as the log writes them; and for which of them a table waits."""

from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

from baohuang.rules.state import Instant, Table, in_progress

NEVER: Final = Instant("")
"""No instant at all. Instants have one fixed form, so they compare as texts."""

_WHOLE_SECONDS: Final = len("2026-01-31T08:05:09")


def later(moment: Instant, seconds: int) -> Instant:
    """Return the instant so many seconds after `moment`."""
    return Instant(_shifted(moment[:_WHOLE_SECONDS], seconds) + moment[_WHOLE_SECONDS:])


def deadline_of(table: Table) -> Instant:
    """Return when the clock itself does something at the table next; NEVER if nothing is due.

    A turn ends (TRUST-1); between hands who keeps others waiting is unseated, a table without sitters closed (TABLE-1).
    """
    if table.hand is not None and in_progress(table):
        return table.hand.due_at
    return min(filter(None, (table.closes_at, *(taken.due_at for taken in table.seats))), default=NEVER)


@lru_cache(maxsize=1024)
def _shifted(whole: str, seconds: int) -> str:
    """Return the text of a whole second, shifted: the same for all that is decided within it."""
    return (datetime.fromisoformat(whole) + timedelta(seconds=seconds)).isoformat(timespec="seconds")
