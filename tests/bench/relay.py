"""Messages a second that the relay publishes, beside the events a second that the log takes in the same run.

In rounds on one embedded PostgreSQL and one nats-server, both with their defaults: tables append without a pause for a
while, then a relay publishes what they left (`throughput`); and tables append in a process of their own while a relay
publishes (`alongside`), from the first append until the stream is the log.
"""

import statistics
import time
from collections.abc import Sequence
from typing import Final

from baohuang.stream.working import at_work

from . import replicas, tables
from .place import Place, place
from .row import Bench, Row

_ROUNDS: Final = 5
_SECONDS: Final = 1.5
_TABLES: Final = 32
_AGAINST: Final = "appends of the same round, 32 tables"


async def run(wanted: Sequence[str]) -> Sequence[Row]:
    """Measure the wanted rows in rounds."""
    async with place() as here:
        return [await _row(here, name) for name in wanted]


async def _row(here: Place, name: str) -> Row:
    measure = {"relay.throughput": _backlog, "relay.alongside": _alongside}[name]
    rates = [await measure(here) for _ in range(_ROUNDS)]
    value, baseline = (statistics.median(one) for one in zip(*rates, strict=True))
    return Row(name, value, "messages/s", baseline, _AGAINST)


async def _backlog(here: Place) -> tuple[float, float]:
    """Return the messages a second of a relay that finds a backlog, and the events a second that made it."""
    before = await here.events()
    appended = await tables.appended(here.dsn, _TABLES, _SECONDS)
    events = await here.events()
    start = time.perf_counter()
    async with at_work(here.relay()):
        await here.published(events)
        return (events - before) / (time.perf_counter() - start), appended


async def _alongside(here: Place) -> tuple[float, float]:
    """Return the messages a second of a relay while tables append, and their events a second."""
    before = await here.events()
    async with at_work(here.relay()):
        await here.published(before)
        appended = await replicas.appended(here.dsn, _TABLES, _SECONDS, processes=1)
        events, lag = await here.events(), time.perf_counter()
        await here.published(events)
        seconds = _SECONDS + time.perf_counter() - lag
        return (events - before) / seconds, appended


BENCH: Final = Bench(("relay.throughput", "relay.alongside"), run)
