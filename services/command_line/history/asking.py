"""What both commands of this folder ask with."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Annotated, Final

import typer

PAGE: Final = 500
"""Rows that one read takes: so many are held at a time, however many are printed."""

Table = Annotated[str | None, typer.Option("--table", help="of this table, or `player:NAME` for a player's bans")]
Since = Annotated[
    datetime | None, typer.Option(help="recorded then or later (UTC), such as 2026-05-04T12:00:00 or 2026-05-04")
]
Until = Annotated[datetime | None, typer.Option(help="recorded before then (UTC)")]
Limit = Annotated[int | None, typer.Option(min=1, help="so many at most; none: all")]
AsJson = Annotated[bool, typer.Option("--json", help="one JSON object a line")]


def in_utc(moment: datetime | None) -> datetime | None:
    """Take a moment without a zone for one of UTC."""
    return None if moment is None else moment.replace(tzinfo=moment.tzinfo or UTC)


def known(names: Sequence[str] | None, is_known: Callable[[str], bool], what: str) -> tuple[str, ...]:
    """Return the names. Raises typer.BadParameter, which names it, for one that is not known."""
    for name in names or ():
        if not is_known(name):
            raise typer.BadParameter(f"{name!r} is no {what}", param_hint="--type")
    return tuple(names or ())
