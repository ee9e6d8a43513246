"""One command's way: load → decide → append → evolve, whatever stub it came through.

- Acknowledged means appended: nothing is answered before the log says so.
- Idempotent: the log remembers (player, request id); a retry gets the first outcome (AIP-155).
- A refusal is answered only from the state the log has now: before it is, head and request are read again.
- A cancelled call does not cancel its command: what is under way is finished and watchers are told.
"""

import asyncio
from datetime import timedelta

import msgspec
import structlog
from msgspec import Struct

from baohuang.eventlog.chain import instant
from baohuang.eventlog.codec import encode
from baohuang.eventlog.port import (
    NO_VERSION,
    Actor,
    Append,
    Appended,
    Duplicate,
    EventLog,
    EventLogError,
    LogCorrupted,
    NewEvent,
    Outcome,
    Refused,
    TooEarly,
    TooLate,
    Unstorable,
    Version,
    VersionConflict,
)
from baohuang.eventlog.summaries import new_summary
from baohuang.rpc.errors import MalformedInput, NotFound, Reason, Refusal, Unavailable
from baohuang.rules.clock import deadline_of
from baohuang.rules.commands import Command, OpenTable
from baohuang.rules.decide import decide
from baohuang.rules.events import Event
from baohuang.rules.refusals import RefusedError
from baohuang.rules.rulesets import OptionError, UnknownRulesetError
from baohuang.rules.state import Instant, Table, TableId
from baohuang.stream.traces import Traces
from baohuang.tracing import spans
from table_service.claims import KEPT, NOBODY_KEPT, Kept, claims_of, kept_by
from table_service.clock import DatabaseClock, moment
from table_service.conditions import check_version, latest_for, told_beside
from table_service.counts import CommandCounts
from table_service.neighbours import Neighbours, NoNeighbours
from table_service.privacy import check_admitted
from table_service.refusing import refusal_of
from table_service.request import Done, Request, StillToCome
from table_service.seeds import SeedSource
from table_service.tables import HeldTable, Tables

_log = structlog.get_logger("table_service")


class _Decided(Struct, frozen=True):
    """What a command is to append, its events, and the table as each of them leaves it."""

    append: Append
    events: tuple[Event, ...]
    tables: tuple[Table, ...]


def _nobody_need_hear() -> None:
    """Have what the current task is refused with not taken for a bug when whoever asked has gone meanwhile."""
    if (task := asyncio.current_task()) is not None:
        task.add_done_callback(lambda refused: refused.cancelled() or refused.exception())


class CommandHandler:
    """Carries commands out, one at a time for each table."""

    def __init__(
        self,
        log: EventLog,
        tables: Tables,
        clock: DatabaseClock,
        seeds: SeedSource,
        neighbours: Neighbours | None = None,
        *,
        traces: Traces | None = None,
    ) -> None:
        """Take `traces` as what is told of the traces that events were appended in."""
        self._neighbours = neighbours or NoNeighbours()
        self._log = log
        self._tables = tables
        self._clock = clock
        self._seeds = seeds
        self._traces = traces
        self._under_way: set[asyncio.Task[Done]] = set()
        self.counts = CommandCounts()

    async def handle(self, request: Request) -> Done:
        """Carry the command out.

        Raises Refusal: NotFound, IllegalMove, StaleVersion, MalformedInput, PermissionDenied, WrongState, Unavailable;
        StillToCome.
        """
        return await asyncio.shield(self.start(request))

    def start(self, request: Request) -> "asyncio.Task[Done]":
        """Begin to carry the command out, as `handle` does, and return the task: not to be cancelled by anybody."""
        task = asyncio.create_task(self._carry_out(request))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return task

    async def finish(self) -> None:
        """Wait for what is under way; to be called once no more commands come."""
        await asyncio.gather(*self._under_way, return_exceptions=True)

    async def _carry_out(self, request: Request) -> Done:
        """Carry the command out, and count what came of it."""
        try:
            done = await self._carried_out(request)
        except Refusal as refusal:
            self.counts.refused[refusal.reason] += 1
            _nobody_need_hear()
            raise
        except StillToCome:
            _nobody_need_hear()
            raise
        except Exception:
            self.counts.failed += 1
            raise
        self.counts.accepted += 1
        return done

    async def _carried_out(self, request: Request) -> Done:
        if (span := spans.sampled()) is not None:
            span.set_attributes({spans.TABLE_ID: request.table_id, spans.REQUEST_ID: request.request_id})
        try:
            held = await self._held(request)
            async with held.lock:
                return await self._settle(held, request)
        except Unstorable as error:
            raise MalformedInput("the request holds text that cannot be stored") from error
        except LogCorrupted:
            self._tables.forget(request.table_id)
            raise
        except EventLogError as error:
            raise Unavailable(Reason.LOG_UNAVAILABLE, "the event log did not answer: retry the same request") from error

    async def _held(self, request: Request) -> HeldTable:
        if isinstance(request.action, OpenTable):
            return HeldTable(request.table_id)
        return await self._tables.hold(request.table_id)

    async def _settle(self, held: HeldTable, request: Request) -> Done:
        kept, tries = NOBODY_KEPT, 0
        while True:
            try:
                with spans.step("decide"):
                    decided = self._decide(held, request, kept, latest_for(request, tries))
            except (Refusal, RefusedError, UnknownRulesetError, OptionError) as refused:
                outcome = await self._refuse(held, request, refused, kept)
            else:
                outcome = await self._append(held, decided)
            if isinstance(outcome, Done):
                return outcome
            kept, tries = outcome, tries + 1
            await self._tables.catch_up(held)

    def _decide(self, held: HeldTable, request: Request, kept: Kept, latest: timedelta | None) -> _Decided:
        if held.table is not None and request.visitor is not None:
            check_admitted(held.table, request.visitor)
        check_version(held, request)
        now = self._clock.now()
        seed = self._seeds.seed_for(held.table)
        command = Command(
            request.player, request.action, Instant(instant(now)), seed, frozenset(kept.hands), kept.banned
        )
        events, tables = decide(held.table, command)
        after = tables[-1]
        claims = claims_of(events, after)
        append = Append(
            stream_id=held.stream_id,
            expected_version=held.version,
            expected_hash=held.hash,
            events=tuple(NewEvent(*encode(event)) for event in events),
            actor=Actor(request.player),
            request_id=request.request_id,
            request_digest=request.digest,
            recorded_at=now,
            outcome=msgspec.json.encode({"tableId": held.table_id, "version": held.version + len(events)}),
            summary=new_summary(held.table, after),
            due_at=moment(deadline_of(after)),
            not_before=request.not_before,
            not_after=None if latest is None else now + latest,
            claims=tuple(claims.claims),
            releases=tuple(claims.releases),
            unclaimed=tuple(claims.unclaimed),
        )
        return _Decided(append, events, tables)

    async def _append(self, held: HeldTable, decided: _Decided) -> Done | Kept:
        """Return what came of it, or what to know when it is decided again, the table being behind the log or not."""
        match await self._appended(decided.append):
            case Appended() as appended:
                self._tables.learn(held, appended.events, decided.events, decided.tables)
                self._tables.adopt(held)
                self._neighbours.appended(held.table_id, appended.version)
                self.counts.position = appended.position
                self.counts.happened(decided.events)
                return Done(held.table_id, appended.version, appended.hash)
            case Duplicate() as duplicate:
                return await self._first_outcome(held, duplicate, decided.append.request_digest)
            case VersionConflict(version):
                await self._reload_if_ahead(held, version)
                return NOBODY_KEPT
            case TooEarly(not_before):
                raise StillToCome(f"not before {not_before.isoformat()}")
            case TooLate():
                await self._clock.measure()
                return NOBODY_KEPT
            case Refused(constraint) if constraint in KEPT:
                names = (*decided.append.claims, *decided.append.unclaimed)
                return kept_by(await self._log.holders(names), held.stream_id)
            case Refused(constraint):
                raise RuntimeError(f"no rule of this service is kept by the constraint {constraint}")

    async def _appended(self, append: Append) -> Outcome:
        """Append, and have the trace of it known to who publishes what was appended."""
        with spans.step("append") as span:
            outcome = await self._log.append(append)
            if span is not None:
                span.set_attribute(spans.OUTCOME, type(outcome).__name__)
                if isinstance(outcome, Appended):
                    span.set_attribute(spans.POSITION, outcome.position)
                    if self._traces is not None:
                        self._traces.put(range(outcome.position - len(append.events) + 1, outcome.position + 1))
        return outcome

    async def _refuse(self, held: HeldTable, request: Request, refused: Exception, kept: Kept) -> Done | Kept:
        """Raise the refusal if the log agrees with the state it was decided from; else have it decided again."""
        current = await self._log.current(held.stream_id, Actor(request.player), request.request_id)
        # A request made elsewhere tells nothing of a table that he may not know of.
        hidden = isinstance(refused, NotFound) and current.duplicate and current.duplicate.stream_id != held.stream_id
        if current.duplicate is not None and not hidden:
            return await self._first_outcome(held, current.duplicate, request.digest)
        version = current.head.version if current.head else NO_VERSION
        if version != held.version:
            await self._reload_if_ahead(held, version)
            return NOBODY_KEPT
        raise refusal_of(refused, told_beside(held, request.player, kept)) from refused

    async def _reload_if_ahead(self, held: HeldTable, version: Version) -> None:
        """Load the table anew if the log is behind it: it was restored, or failed over to a standby that lagged."""
        if version < held.version:
            _log.error("log is behind", table_id=held.table_id, held=held.version, stored=version)
            await self._tables.reload(held)

    async def _first_outcome(self, held: HeldTable, duplicate: Duplicate, digest: bytes) -> Done:
        """Return what came of the request the first time, perhaps on another replica or with its answer lost."""
        if duplicate.stream_id == held.stream_id and duplicate.version > held.version:
            await self._tables.catch_up(held)
        if duplicate.request_digest != digest:
            raise MalformedInput.field("request_id", "was used for another request", Reason.REQUEST_ID_REUSED)
        (last,) = await self._log.read_stream(duplicate.stream_id, Version(duplicate.version - 1), 1)
        return Done(TableId(duplicate.stream_id), last.version, last.hash)
