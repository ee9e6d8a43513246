"""Rows on a screen: columns keep their widths, so that some rows can be printed before the next are read."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

_NARROWEST: Final = 20


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a title and a width in characters; without a width it has what is left of the line."""

    title: str
    width: int | None = None


@dataclass(slots=True)
class Screen:
    """Prints rows under the titles, which come once."""

    columns: Sequence[Column]
    console: Console = field(default_factory=Console)
    begun: bool = False

    def show(self, rows: Iterable[Sequence[str]]) -> None:
        """Print some more rows."""
        table = Table(box=None, show_header=not self.begun, pad_edge=False, expand=True)
        for column in self.columns:
            ratio, least = (None, None) if column.width else (1, _NARROWEST)
            table.add_column(column.title, width=column.width, ratio=ratio, min_width=least, overflow="fold")
        for row in rows:
            table.add_row(*map(Text, row))  # what players called themselves is no markup
        self.console.print(table)
        self.begun = True
