"""What both commands of this folder ask with."""

from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime
from typing import Annotated, Final, TypeVar

import typer

PAGE: Final = 500
"""Rows that one read takes: so many are held at a time, however many are printed."""

_Row = TypeVar("_Row")

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


async def up_to(limit: int | None, pages: AsyncIterator[Sequence[_Row]]) -> AsyncIterator[Sequence[_Row]]:
    """Give the pages, the last one cut, until there were so many rows; None: all."""
    left = limit
    async for page in pages:
        yield page[:left]
        if left is not None:
            left -= len(page)
            if left <= 0:
                return
