"""Milliseconds of processor time from a service's exec until it serves: less is better.

Each starts as its image starts it, its code compiled before, on servers that have nothing in them. A process is the
baseline that imports gRPC, asyncpg and nats-py, and nothing else. Of several rounds the medians count.
"""

import statistics
from collections.abc import Sequence
from typing import Final

from .every_service import SERVICES, every_service, somewhere
from .processes import baseline, processor_seconds
from .row import Bench, Row

_ROWS: Final = {f"start.{service.name}": service for service in SERVICES}
_AGAINST: Final = "bare imports: grpc, asyncpg, nats"
_ROUNDS: Final = 3
_MS: Final = 1000.0


async def run(wanted: Sequence[str]) -> Sequence[Row]:
    """Start all of them, several times, and a bare process beside each time."""
    bare, rounds = [], []
    async with somewhere() as here:
        async with every_service(here):
            pass  # so that all is compiled
        for _ in range(_ROUNDS):
            async with baseline("bare_imports") as process:
                bare.append(processor_seconds(process.pid))
            async with every_service(here) as begun:
                rounds.append(begun)
    against = statistics.median(bare) * _MS
    taken = {name: statistics.median(begun[_ROWS[name]].seconds for begun in rounds) * _MS for name in wanted}
    return [Row(name, milliseconds, "ms", against, _AGAINST) for name, milliseconds in taken.items()]


BENCH: Final = Bench(tuple(_ROWS), run)
