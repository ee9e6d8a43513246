"""Measure against named baselines: `python -m tests.bench [FILTER…]` runs the rows whose name has a filter in it."""

import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path

import uvloop

from .benches import BENCHES
from .report import show, write
from .row import Bench, Row


def wanted_of(filters: Sequence[str]) -> dict[Bench, list[str]]:
    """Give the benches of which a row is wanted, each with the names of those rows."""
    chosen = {
        bench: [name for name in bench.rows if not filters or any(one in name for one in filters)] for bench in BENCHES
    }
    return {bench: names for bench, names in chosen.items() if names}


async def measure(wanted: Mapping[Bench, Sequence[str]]) -> tuple[list[Row], list[str]]:
    """Run the benches: the rows that were measured, and the names of those that were not, since their bench failed."""
    rows: list[Row] = []
    missing: list[str] = []
    for bench, names in wanted.items():
        try:
            rows.extend(await bench.run(names))
        except Exception:  # noqa: BLE001 - whatever ends one bench, what the others measured is worth keeping
            traceback.print_exc()
            missing.extend(names)
    return rows, missing


def main(filters: Sequence[str]) -> int:
    """Measure, print one table, write `bench.json`; 1 if no row has such a name, or a bench failed."""
    wanted = wanted_of(filters)
    if not wanted:
        print("no such bench; there are:", *(name for bench in BENCHES for name in bench.rows), file=sys.stderr)
        return 1
    rows, missing = uvloop.run(measure(wanted))
    show(rows)
    write(rows, Path("bench.json"))
    if missing:
        print("not measured, since their bench failed:", *missing, file=sys.stderr)
    return int(bool(missing))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
