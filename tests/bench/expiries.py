"""How late turns end whose time is up, many tables at once: with the replica that knows them, and after its kill -9.

Two table services over one PostgreSQL; one of them deals the hands and nobody ever moves. Lateness is from the deadline
to the clock reading by which its expiry was decided, both in the log. Less is better.
"""

import asyncio
import statistics
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import grpc

from baohuang.eventlog.codec import decode
from baohuang.eventlog.port import StoredEvent
from baohuang.eventlog.postgres.log import PostgresLog, open_log
from baohuang.gen.rules.v1 import ruleset_pb2
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.gen.table.v1 import table_service_pb2_grpc
from baohuang.rules.events import TrusteeshipEntered, TurnExtended
from baohuang.rules.state import ALL_SEATS
from table_service.deadlines import CLOCK

from .processes import serving
from .row import Bench, Row

_TABLES: Final = 100
_TURN_SECONDS: Final = 8
_PATIENCE_SECONDS: Final = 40.0
_LOOK_SECONDS: Final = 0.2
_BAR: Final = (300.0, "the bar: 0.3 s")
_BAR_AFTER_A_KILL: Final = (2000.0, "the bar: 2 s")
_OPTIONS: Final = ruleset_pb2.Options(turn_seconds=_TURN_SECONDS, declare_seconds=_TURN_SECONDS)


async def run(wanted: Sequence[str]) -> Sequence[Row]:
    """Measure both: they are one story."""
    async with serving(2, {}) as served, open_log(served.dsn) as log:
        known, _other = served.services
        async with grpc.aio.insecure_channel(known.address) as channel:
            await asyncio.gather(*(_dealt(channel, number) for number in range(_TABLES)))
        alive = await _expired(log, set())
        await known.kill()
        killed = await _expired(log, {one.position for one in alive})
    rows = [
        Row("clock.expiry", statistics.median(map(_late_ms, alive)), "ms", *_BAR),
        Row("clock.expiry.killed", statistics.median(map(_late_ms, killed)), "ms", *_BAR_AFTER_A_KILL),
        Row("clock.expiry.killed.max", max(map(_late_ms, killed)), "ms", *_BAR_AFTER_A_KILL),
    ]
    return [row for row in rows if row.name in wanted]


async def _dealt(channel: grpc.aio.Channel, number: int) -> None:
    """Open a table and start its first hand."""
    stub: Any = table_service_pb2_grpc.TableServiceStub(channel)
    callers = [(("baohuang-player", f"p{number}-{seat}"),) for seat in ALL_SEATS]
    opening = pb.OpenTableRequest(request_id="open", ruleset="ourgame-simple", options=_OPTIONS)
    table_id = (await stub.OpenTable(opening, metadata=callers[0])).table_id
    for seat in ALL_SEATS:
        await stub.SitDown(pb.SitDownRequest(request_id="sit", table_id=table_id, seat=seat), metadata=callers[seat])
    for seat in ALL_SEATS:
        ready = pb.SetReadyRequest(request_id="ready", table_id=table_id, ready=True)
        await stub.SetReady(ready, metadata=callers[seat])


async def _expired(log: PostgresLog, known: set[int]) -> list[StoredEvent]:
    """Wait until every table has one more deadline decided, and return what decided it; `known` are positions."""
    async with asyncio.timeout(_PATIENCE_SECONDS):
        while True:
            events = await log.read_all(limit=1_000_000)
            rulings = [one for one in events if one.type in _KINDS and str(one.actor) == CLOCK]
            fresh = {one.stream_id: one for one in reversed(rulings) if one.position not in known}
            if len(fresh) == _TABLES:
                return list(fresh.values())
            await asyncio.sleep(_LOOK_SECONDS)


def _late_ms(stored: StoredEvent) -> float:
    """Return how late a deadline was decided, in milliseconds."""
    event = decode(stored.type, stored.data)
    due_at = event.missed_due_at if isinstance(event, TurnExtended) else getattr(event, "due_at", "")
    return (stored.recorded_at - datetime.fromisoformat(due_at)).total_seconds() * 1000


_KINDS: Final = {TrusteeshipEntered.__name__, TurnExtended.__name__}
BENCH: Final = Bench(("clock.expiry", "clock.expiry.killed", "clock.expiry.killed.max"), run)
