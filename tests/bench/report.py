"""The one table on the screen and the one file beside it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from .row import Row

_WIDE: Final = 200
"""Columns, for any row that there is."""


def show(rows: Sequence[Row]) -> None:
    """Print the rows as one table. Where it is too wide, words are folded; numbers never are, nor cut."""
    table = Table()
    for title in ("bench", "unit", "against"):
        table.add_column(title, overflow="fold")
    for title in ("value", "baseline", "ratio"):
        table.add_column(title, justify="right", no_wrap=True)
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        table.add_row(row.name, row.unit, row.against, _number(row.value), _number(row.baseline), ratio)
    _console().print(table)


def write(rows: Sequence[Row], path: Path) -> None:
    """Write the rows as a JSON array of objects: name, value, unit, baseline, ratio, against."""
    found = [
        {
            "name": row.name,
            "value": row.value,
            "unit": row.unit,
            "baseline": row.baseline,
            "ratio": row.ratio,
            "against": row.against,
        }
        for row in rows
    ]
    path.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


def _console() -> Console:
    """Return the terminal as it is; a file or a pipe is as wide as a row wants."""
    terminal = Console()
    return terminal if terminal.is_terminal else Console(width=_WIDE)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}" if value >= 10 else f"{value:.3f}"
