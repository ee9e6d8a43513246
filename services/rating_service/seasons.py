"""Seasons: calendar quarters in UTC."""

import re
from datetime import UTC, datetime
from typing import Final, NewType

Season = NewType("Season", str)
"""A quarter, such as `2026Q4`; later ones compare greater."""

_SEASON: Final = re.compile(r"[0-9]{4}Q[1-4]", re.ASCII)
_MONTHS: Final = 3


def season_of(moment: datetime) -> Season:
    """Return the season that an aware moment belongs to."""
    moment = moment.astimezone(UTC)
    return Season(f"{moment.year:04}Q{(moment.month - 1) // _MONTHS + 1}")


def season_named(text: str) -> Season | None:
    """Return the season of that name, None if no season has it."""
    return Season(text) if _SEASON.fullmatch(text) else None
