"""What the disk allows: durable writes one after the other, the floor under every commit."""

import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from typing import Final

from .row import Bench, Row

_BLOCK: Final = bytes(8192)
_ROUNDS: Final = 5
_SECONDS: Final = 0.4


async def run(_wanted: Sequence[str]) -> Sequence[Row]:
    """Measure appends of 8 kB, each followed by fdatasync, to a file in the folder for temporary files."""
    with tempfile.NamedTemporaryFile() as file:
        rates = [_rate(file.fileno()) for _ in range(_ROUNDS)]
    return [Row("disk.fsync", statistics.median(rates), "syncs/s")]


def _rate(descriptor: int) -> float:
    start = time.perf_counter()
    syncs = 0
    while time.perf_counter() - start < _SECONDS:
        os.write(descriptor, _BLOCK)
        os.fdatasync(descriptor)
        syncs += 1
    return syncs / (time.perf_counter() - start)


BENCH: Final = Bench(("disk.fsync",), run)
