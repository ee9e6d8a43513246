"""What the table service is made of, put together in one place."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from baohuang.database.flush_counts import read_flushes
from baohuang.database.release import check_schema
from baohuang.eventlog.port import EventLog
from baohuang.eventlog.postgres.log import open_log
from baohuang.eventlog.postgres.schema import SCHEMA
from baohuang.gen.history.v1 import history_service_pb2_grpc
from baohuang.gen.rules.v1 import rules_service_pb2, rules_service_pb2_grpc
from baohuang.gen.table.v1 import table_service_pb2, table_service_pb2_grpc
from baohuang.rpc.server import RpcServer
from baohuang.rules.state import PlayerId, TableId
from baohuang.tls.counts import read_certificates
from table_service.clock import DatabaseClock
from table_service.counts import read_commands, read_replica
from table_service.curtain import Learnt
from table_service.deadlines import CallLater, Deadlines, Pace
from table_service.following import POLL_SECONDS, Following
from table_service.handler import CommandHandler
from table_service.history.wiring import Record, open_record, register
from table_service.identifiers import new_watch_id
from table_service.playing.session import Playing
from table_service.playing.watched import BUGS_OF
from table_service.pokes import Ears, OnNats, neighbours
from table_service.relaying import Relayed, relaying
from table_service.reversing import Reversing
from table_service.reversing_servicer import ReversingServicer
from table_service.rules_servicer import RulesServicer
from table_service.seeds import SeedSource, seeds_from
from table_service.settings import TableSettings
from table_service.table_servicer import TableServicer
from table_service.tables import TABLES_HELD, Tables
from table_service.watch.hub import Hub
from table_service.watch.lines import AWAY_SECONDS, Lines
from table_service.watch.postings import Postings
from table_service.watch.recent import Recent
from table_service.watch.stream import Watching
from table_service.watch.subscription import StreamLimits

SERVICES: Final = (
    table_service_pb2.DESCRIPTOR.services_by_name["TableService"].full_name,
    rules_service_pb2.DESCRIPTOR.services_by_name["RulesService"].full_name,
)
_STREAM: Final = StreamLimits()
_CLOCK: Final = "clock"


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a replica holds, how long a stream may be silent, stuck or away, how often it looks for what is new."""

    tables_held: int = TABLES_HELD
    updates_queued: int = _STREAM.queued
    heartbeat_seconds: float = _STREAM.heartbeat_seconds
    stuck_seconds: float = _STREAM.stuck_seconds
    away_seconds: float = AWAY_SECONDS
    deadlines: Pace = field(default_factory=Pace)
    poll_seconds: float = POLL_SECONDS


@dataclass(frozen=True, slots=True)
class Timing:
    """Where a replica has its time from: seconds that only grow, and what calls back later (None: the event loop)."""

    monotonic: Callable[[], float] = time.monotonic
    call_later: CallLater | None = None


@asynccontextmanager
async def wired(server: RpcServer, settings: TableSettings) -> AsyncIterator[None]:
    """Open what the servicers need and register them on the server; closed in order once it is drained.

    Raises OSError, asyncpg.PostgresError, LogUnavailable, CertificateError, SchemaMismatchError.
    """
    dsn = settings.postgres_dsn.get_secret_value()
    await check_schema(dsn, SCHEMA)
    nats = OnNats(settings.nats, settings.replica or "table") if settings.nats else None
    async with (
        open_log(dsn) as log,
        open_record(dsn) as record,
        relaying(dsn, settings.nats, settings.stream_servers, server.metrics, server.bugs) as relayed,
        serving(server, log, seeds_from(settings.dev_seed), nats=nats, relayed=relayed, record=record),
    ):
        server.metrics.add(partial(read_flushes, log.commits))
        server.metrics.add(partial(read_certificates, {"nats": settings.nats.tls if settings.nats else None}))
        yield


@asynccontextmanager
async def serving(
    server: RpcServer,
    log: EventLog,
    seeds: SeedSource,
    limits: Limits | None = None,
    timing: Timing | None = None,
    *,
    nats: OnNats | None = None,
    relayed: Relayed | None = None,
    record: Record | None = None,
) -> AsyncIterator[Hub]:
    """Register the servicers on the server, over any log, poking other replicas over NATS if it has an address.

    `relayed` is told what the log has more; without a record to look back into, rulings can be taken back and no more.
    Raises LogUnavailable.
    """
    limits, timing = limits or Limits(), timing or Timing()
    clock = DatabaseClock(log, timing.monotonic)
    await clock.measure()
    streams = StreamLimits(
        limits.updates_queued, limits.heartbeat_seconds, limits.stuck_seconds, server.stream_age_seconds
    )
    hub = Hub(streams, lambda: new_watch_id(clock.now()), Recent(log))
    server.when_draining(hub.drain)

    def tell(table_id: TableId, learnt: Sequence[Learnt]) -> None:
        hub.publish(table_id, learnt)
        deadlines.learn(table_id, learnt[-1].happened.table)
        lines.learn(table_id, learnt[-1].happened.table)
        if relayed is not None:
            relayed.told(learnt)

    def taken_elsewhere(table_id: TableId, player: PlayerId, stream: str) -> None:
        hub.taken_elsewhere(table_id, player, stream)
        lines.is_back(table_id, player)

    tables = Tables(log, tell, limits.tables_held, hub.is_watched)
    following = Following(log, tables, hub, limits.poll_seconds, bugs=server.bugs)
    ears = Ears(following.reached, taken_elsewhere, Postings(hub).hear)
    async with neighbours(nats, ears) as others, following:
        handler = CommandHandler(log, tables, clock, seeds, others, traces=relayed.traces if relayed else None)
        later, bugs, away = timing.call_later, server.bugs, limits.away_seconds
        lines = Lines(tables, handler, hub, clock.now, call_later=later, away_seconds=away, bugs=bugs)
        deadlines = Deadlines(log, handler, clock, lines, limits.deadlines, call_later=later, bugs=bugs)
        watching = Watching(tables, hub, lines, others, clock.now)
        playing = Playing(handler, watching, hub, server.limiter, server.streams, clock, streams, bugs)
        servicer = TableServicer(log, tables, clock, handler=handler, watching=watching, playing=playing)
        table_service_pb2_grpc.add_TableServiceServicer_to_server(servicer, server.grpc)
        rules_service_pb2_grpc.add_RulesServiceServicer_to_server(RulesServicer(), server.grpc)
        _register_history(server, record, Reversing(log, handler))
        server.metrics.add(partial(read_commands, handler.counts))
        server.metrics.add(partial(read_replica, hub, tables, deadlines.late, clock.now))
        bugs.expect(_CLOCK)
        bugs.expect(BUGS_OF)
        measuring = asyncio.create_task(bugs.begun_again(_CLOCK, clock.keep_measured), name=_CLOCK)
        try:
            async with deadlines, lines:
                yield hub
        finally:
            measuring.cancel()
            await handler.finish()


def _register_history(server: RpcServer, record: Record | None, reversing: Reversing) -> None:
    if record is not None:
        register(server, record, reversing)
        return
    servicer = ReversingServicer(reversing)  # type: ignore[abstract] # of the contract one method
    history_service_pb2_grpc.add_HistoryServiceServicer_to_server(servicer, server.grpc)
