"""The baseline of a held table: `python -m tests.bench.bare_tables COUNT` folds so many tables, no more."""

import random
import sys

from baohuang.eventlog.codec import decode
from baohuang.rules.evolve import fold
from baohuang.rules.state import Table, TableId

from .recorded import table_in_mid_hand


def main(count: int) -> None:
    """Say "ready", hold the tables on a line from standard input, say "held", and wait to be ended."""
    events = table_in_mid_hand(TableId("bench"), random.Random(1))  # noqa: S311 - no secret
    stored = [(event.type, bytes(event.data)) for event in events]
    print("ready", flush=True)
    sys.stdin.readline()
    tables: list[Table | None] = [fold(decode(name, data) for name, data in stored) for _ in range(count)]
    print("held", len(tables), flush=True)
    sys.stdin.readline()


if __name__ == "__main__":
    main(int(sys.argv[1]))
