"""Measure against named baselines: `python -m tests.bench [FILTER…]` runs the rows whose name has a filter in it."""

import sys
from collections.abc import Sequence
from pathlib import Path

import uvloop

from .benches import BENCHES
from .report import show, write
from .row import Row


async def measure(filters: Sequence[str]) -> list[Row]:
    """Run every bench of which a row is wanted."""
    rows: list[Row] = []
    for bench in BENCHES:
        wanted = [name for name in bench.rows if not filters or any(one in name for one in filters)]
        if wanted:
            rows.extend(await bench.run(wanted))
    return rows


def main(filters: Sequence[str]) -> int:
    """Measure, print one table, write `bench.json`; 1 if no row has such a name."""
    rows = uvloop.run(measure(filters))
    if not rows:
        print("no such bench; there are:", *(name for bench in BENCHES for name in bench.rows), file=sys.stderr)
        return 1
    show(rows)
    write(rows, Path("bench.json"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
