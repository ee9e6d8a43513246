"""How late turns end whose time is up, many tables at once: with the replica that knows them, and after its kill -9.

Two table services over one PostgreSQL; one of them deals the hands and nobody ever moves. Lateness is from the deadline
to the clock reading by which its expiry was decided, both in the log. Less is better.
"""

import asyncio
import statistics
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import uuid4

import grpc

from baohuang.eventlog.codec import decode
from baohuang.eventlog.port import NO_POSITION, StoredEvent
from baohuang.eventlog.postgres.log import PostgresLog, open_log
from baohuang.gen.rules.v1 import ruleset_pb2
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.gen.table.v1 import table_service_pb2_grpc
from baohuang.rules.events import TrusteeshipEntered, TurnExtended
from baohuang.rules.state import ALL_SEATS

from .processes import serving
from .row import Bench, Row

_TABLES: Final = 100
_TURN_SECONDS: Final = 8
_PATIENCE_SECONDS: Final = 40.0
_LOOK_SECONDS: Final = 0.2
_BAR: Final = (300.0, "the bar: 0.3 s")
_BAR_AFTER_A_KILL: Final = (2000.0, "the bar: 2 s")
_OPERATOR: Final = (("baohuang-player", "operator"), ("baohuang-role", "operator"))
_OPTIONS: Final = ruleset_pb2.Options(turn_seconds=_TURN_SECONDS, declare_seconds=_TURN_SECONDS)


async def run(wanted: Sequence[str]) -> Sequence[Row]:
    """Measure both."""
    async with serving(2, {}) as served, open_log(served.dsn) as log:
        known, _other = served.services
        async with grpc.aio.insecure_channel(known.address) as channel:
            alive = await _expired(log, await _all_dealt(channel))
            # Nobody would answer what is asked next either, and whole hands would be played out meanwhile.
            await asyncio.gather(*(_voided(channel, one.stream_id) for one in alive))
            dealt = await _all_dealt(channel)
        await known.kill()
        killed = await _expired(log, dealt)
    rows = [
        Row("clock.expiry", statistics.median(map(_late_ms, alive)), "ms", *_BAR),
        Row("clock.expiry.killed", statistics.median(map(_late_ms, killed)), "ms", *_BAR_AFTER_A_KILL),
        Row("clock.expiry.killed.max", max(map(_late_ms, killed)), "ms", *_BAR_AFTER_A_KILL),
    ]
    return [row for row in rows if row.name in wanted]


async def _all_dealt(channel: grpc.aio.Channel) -> set[str]:
    """Start hands at so many tables, and return their ids."""
    return set(await asyncio.gather(*(_dealt(channel) for _ in range(_TABLES))))


async def _voided(channel: grpc.aio.Channel, table_id: str) -> None:
    stub: Any = table_service_pb2_grpc.TableServiceStub(channel)
    await stub.VoidHand(
        pb.VoidHandRequest(request_id=table_id, table_id=table_id, reason="measured"), metadata=_OPERATOR
    )


async def _dealt(channel: grpc.aio.Channel) -> str:
    """Open a table and start its first hand, and return its id."""
    stub: Any = table_service_pb2_grpc.TableServiceStub(channel)
    name = uuid4().hex
    callers = [(("baohuang-player", f"{name}-{seat}"),) for seat in ALL_SEATS]
    opening = pb.OpenTableRequest(request_id="open", ruleset="ourgame-simple", options=_OPTIONS)
    table_id: str = (await stub.OpenTable(opening, metadata=callers[0])).table_id
    for seat in ALL_SEATS:
        await stub.SitDown(pb.SitDownRequest(request_id="sit", table_id=table_id, seat=seat), metadata=callers[seat])
    for seat in ALL_SEATS:
        ready = pb.SetReadyRequest(request_id="ready", table_id=table_id, ready=True)
        await stub.SetReady(ready, metadata=callers[seat])
    return table_id


async def _expired(log: PostgresLog, table_ids: set[str]) -> list[StoredEvent]:
    """Wait until each of the tables has had a deadline decided, and return what decided its first."""
    first: dict[str, StoredEvent] = {}
    after = NO_POSITION
    async with asyncio.timeout(_PATIENCE_SECONDS):
        while len(first) < len(table_ids):
            events = await log.read_all(after)
            for one in events:
                if one.type in _KINDS and one.stream_id in table_ids:
                    first.setdefault(one.stream_id, one)
            after = events[-1].position if events else after
            if not events:
                await asyncio.sleep(_LOOK_SECONDS)
    return list(first.values())


def _late_ms(stored: StoredEvent) -> float:
    """Return how late a deadline was decided, in milliseconds."""
    event = decode(stored.type, stored.data)
    due_at = event.missed_due_at if isinstance(event, TurnExtended) else getattr(event, "due_at", "")
    return (stored.recorded_at - datetime.fromisoformat(due_at)).total_seconds() * 1000


_KINDS: Final = {TrusteeshipEntered.__name__, TurnExtended.__name__}
BENCH: Final = Bench(("clock.expiry", "clock.expiry.killed", "clock.expiry.killed.max"), run)
