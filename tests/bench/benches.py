"""All benches, in the order in which they run."""

from typing import Final

from . import append, disk, engine, expiries, memory, notices, plays, rebuild, relay, tickets
from .row import Bench

BENCHES: Final[tuple[Bench, ...]] = (
    engine.BENCH, disk.BENCH, append.BENCH, rebuild.BENCH, plays.BENCH, relay.BENCH, memory.BENCH, expiries.BENCH,
    tickets.BENCH, notices.BENCH,
)  # fmt: skip
