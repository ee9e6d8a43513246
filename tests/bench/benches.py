"""All benches, in the order in which they run."""

from typing import Final

from . import append, beside, disk, engine, expiries, history, memory, notices, plays, rebuild, relay, tickets
from .row import Bench

BENCHES: Final[tuple[Bench, ...]] = (
    engine.BENCH, disk.BENCH, append.BENCH, rebuild.BENCH, plays.BENCH, relay.BENCH, memory.BENCH, expiries.BENCH,
    tickets.BENCH, notices.BENCH, history.BENCH, beside.BENCH,
)  # fmt: skip
