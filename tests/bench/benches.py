"""All benches, in the order in which they run."""

from typing import Final

from . import (
    append,
    beside,
    consumers,
    disk,
    engine,
    expiries,
    history,
    idle,
    memory,
    notices,
    plays,
    rebuild,
    relay,
    starts,
    tickets,
)
from .row import Bench

BENCHES: Final[tuple[Bench, ...]] = (
    engine.BENCH, disk.BENCH, append.BENCH, rebuild.BENCH, plays.BENCH, relay.BENCH, memory.BENCH, idle.BENCH,
    starts.BENCH, expiries.BENCH, tickets.BENCH, notices.BENCH, consumers.BENCH, history.BENCH, beside.BENCH,
)  # fmt: skip
