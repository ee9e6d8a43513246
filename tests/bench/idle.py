"""Bytes of memory that an idle replica of each service has in use: less is better.

Each runs as its image runs it, by `baohuang serve`, with tokens, probes and metrics, without TLS and traces. All are
connected to what they need and have nothing to do. They are held against a process that has imported gRPC, asyncpg and
nats-py, and nothing else.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

from .every_service import SERVICES, every_service, somewhere
from .processes import baseline, resident
from .row import Bench, Row

_ROWS: Final = {f"memory.idle.{service.name}": service for service in SERVICES}
_AGAINST: Final = "bare imports: grpc, asyncpg, nats"
_PATIENCE_SECONDS: Final = 60.0
_LOOK_SECONDS: Final = 2.0
_STILL: Final = 0.002
"""By what part one may grow between two looks that has come to rest."""


async def run(wanted: Sequence[str]) -> Sequence[Row]:
    """Start all, and measure the wanted rows when all have come to rest."""
    async with somewhere() as here, baseline("bare_imports") as bare, every_service(here) as begun:
        await _at_rest([one.pid for one in begun.values()])
        against = resident(bare.pid)
        return [Row(name, resident(begun[_ROWS[name]].pid), "bytes", against, _AGAINST) for name in wanted]


async def _at_rest(pids: Sequence[int]) -> None:
    """Wait until none of them grows any more."""
    async with asyncio.timeout(_PATIENCE_SECONDS):
        before = [resident(pid) for pid in pids]
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            now = [resident(pid) for pid in pids]
            if all(grown <= (1 + _STILL) * one for grown, one in zip(now, before, strict=True)):
                return
            before = now


BENCH: Final = Bench(tuple(_ROWS), run)
