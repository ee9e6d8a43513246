"""Deadlines that fire: every table's next one, on this replica's own timer, or by whichever replica finds it overdue.

    learn ──► armed: a timer of this process ──┐
                                               ├──► firing: ExpireDeadline through the handler, as anybody's command
    poll ───► claimed: a row of the log ───────┘

The log holds the deadline of every table, written by the append that set it; a timer of this process only makes it
prompt. What neither fires in time any replica claims by a lease, so a replica that dies takes no turn with it. Firing
twice, late or in vain is harmless: the rules ignore a deadline that is not the table's any more, the request id is the
deadline's own, and the append asks the log's clock whether it has come.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Final, Protocol, Self

import structlog

from baohuang.eventlog.chain import instant
from baohuang.eventlog.port import Due, EventLog, EventLogError, RequestId
from baohuang.metrics.bugs import Bugs
from baohuang.rpc.errors import NotFound, Reason, Refusal
from baohuang.rules.clock import deadline_of
from baohuang.rules.commands import ExpireDeadline, LostLine
from baohuang.rules.state import Instant, PlayerId, Table, TableId
from table_service.clock import DatabaseClock, moment
from table_service.counts import lateness
from table_service.handler import CommandHandler
from table_service.request import Request, StillToCome

CLOCK: Final = PlayerId("@clock")
"""Who expires deadlines. No player is called so: a player's id begins with a letter or a digit."""
_MARGIN_SECONDS: Final = 0.01
"""By how much a timer comes after its deadline: more than the offset to the log's clock is usually wrong."""
_PART: Final = "deadlines"
_log = structlog.get_logger("table_service")


@dataclass(frozen=True, slots=True)
class Pace:
    """How often the log is asked for overdue deadlines, for how long one is claimed, how many are fired at once."""

    poll_seconds: float = 0.5
    lease_seconds: float = 1.5
    at_once: int = 64


class Alarm(Protocol):
    """A callback to come, which can be called off."""

    def cancel(self) -> object:
        """Call it off."""


CallLater = Callable[[float, Callable[[], None]], Alarm]
"""Calls back once after so many seconds: the event loop's, or a virtual one's."""


class KnownLines(Protocol):
    """What this replica knows of the lines of a table's players when a deadline of their hand has come (FINE-5)."""

    def lost(self, table_id: TableId, due_at: Instant) -> tuple[LostLine, ...]:
        """Return the lines that are lost."""

    def watching(self, table_id: TableId, due_at: Instant) -> tuple[int, ...]:
        """Return the seats whose players have a stream."""


@dataclass(slots=True)
class _Armed:
    """A timer: for when it is set, which deadline it is for now (not before that), and what rings."""

    rings_at: Instant
    due_at: Instant
    alarm: Alarm


class Deadlines:
    """Fires deadlines between entering and leaving it as an async context manager."""

    def __init__(
        self,
        log: EventLog,
        handler: CommandHandler,
        clock: DatabaseClock,
        lines: KnownLines,
        pace: Pace | None = None,
        *,
        call_later: CallLater | None = None,
        bugs: Bugs | None = None,
    ) -> None:
        self._bugs: Final = bugs or Bugs()
        self._report: Final = self._bugs.of_tasks(_PART)
        self._log = log
        self._handler = handler
        self._clock = clock
        self._lines = lines
        self._pace = pace or Pace()
        self._call_later = call_later or asyncio.get_running_loop().call_later
        self.late = lateness()
        self._armed: dict[TableId, _Armed] = {}
        self._firing: dict[TableId, asyncio.Task[None]] = {}
        self._polling: asyncio.Task[None] | None = None
        self._ending = asyncio.Event()

    async def __aenter__(self) -> Self:
        self._polling = asyncio.create_task(self._bugs.begun_again(_PART, self._poll), name="deadlines: poll")
        return self

    async def __aexit__(self, *_: object) -> None:
        """Fire what was claimed, so that nobody has to wait for the end of its lease, and no more."""
        polling, self._polling = self._polling, None
        for armed in self._armed.values():
            armed.alarm.cancel()
        self._armed.clear()
        self._ending.set()
        if polling:
            await asyncio.gather(polling, return_exceptions=True)
        await asyncio.gather(*self._firing.values(), return_exceptions=True)

    def learn(self, table_id: TableId, table: Table) -> None:
        """Set the table's timer by what has become of it."""
        due_at = deadline_of(table)
        armed = self._armed.get(table_id)
        if armed is not None and armed.rings_at <= due_at:
            # Most moves put the deadline off: the timer does so too when it rings, once for all of them.
            armed.due_at = due_at
            return
        if armed is not None:
            self._armed.pop(table_id).alarm.cancel()
        self._arm(table_id, due_at)

    def _arm(self, table_id: TableId, due_at: Instant) -> None:
        due = moment(due_at)
        if due is None or self._polling is None:
            return
        seconds = max(0.0, (due - self._clock.now()).total_seconds()) + _MARGIN_SECONDS
        alarm = self._call_later(seconds, partial(self._ring, table_id))
        self._armed[table_id] = _Armed(due_at, due_at, alarm)

    def _ring(self, table_id: TableId) -> None:
        """Fire if the deadline has not been put off, unless too many are firing: then the poll will find it."""
        armed = self._armed.pop(table_id)
        due_at = armed.due_at
        if due_at != armed.rings_at:
            self._arm(table_id, due_at)
        elif len(self._firing) < self._pace.at_once:
            self._start(table_id, due_at)

    def _start(self, table_id: TableId, due_at: Instant) -> None:
        """Fire in a task of its own, so that one table's failure is its own; the poll tries again."""
        if table_id in self._firing:
            return
        task = asyncio.create_task(self._fire(table_id, due_at), name=f"deadline of {table_id}")
        self._firing[table_id] = task
        task.add_done_callback(lambda _: self._firing.pop(table_id))
        task.add_done_callback(self._report)

    async def _fire(self, table_id: TableId, due_at: Instant) -> None:
        try:
            await self._handler.handle(self._expiry(table_id, due_at))
            self._note_lateness(due_at)
        except StillToCome:
            await self._set_clock()
            if table_id not in self._armed:
                self._arm(table_id, due_at)
        except NotFound:
            pass
        except (Refusal, EventLogError) as error:
            if not isinstance(error, Refusal) or error.reason is not Reason.NOT_DUE:
                _log.warning("deadline not fired", table_id=table_id, due_at=due_at, error=type(error).__name__)

    def _note_lateness(self, due_at: Instant) -> None:
        if due := moment(due_at):
            self.late.add((self._clock.now() - due).total_seconds())

    def _expiry(self, table_id: TableId, due_at: Instant) -> Request:
        """Return the command for this deadline: request id and digest are the same whichever replica gives it."""
        request_id = f"{table_id}/{due_at}"
        lost, watching = self._lines.lost(table_id, due_at), self._lines.watching(table_id, due_at)
        return Request(
            table_id=table_id,
            player=CLOCK,
            request_id=RequestId(request_id),
            digest=sha256(request_id.encode()).digest(),
            action=ExpireDeadline(due_at, lost, watching),
            not_before=moment(due_at),
        )

    async def _poll(self) -> None:
        """Look for overdue deadlines to the end; at once again whenever as many were found as can be fired."""
        while not self._ending.is_set():
            room = self._pace.at_once - len(self._firing)
            for due in await self._claim(room) if room > 0 else ():
                self._start(TableId(due.stream_id), Instant(instant(due.due_at)))
            if len(self._firing) < self._pace.at_once:
                await self._ended_within(self._pace.poll_seconds)
            else:
                await asyncio.wait(self._firing.values(), timeout=self._pace.poll_seconds)

    async def _ended_within(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._ending.wait()

    async def _claim(self, limit: int) -> Sequence[Due]:
        """Claim what is overdue by the log's clock, and see that this process's clock agrees."""
        try:
            claimed = await self._log.claim_due(limit, self._pace.lease_seconds)
        except EventLogError as error:
            _log.warning("deadlines not looked for", error=type(error).__name__)
            return ()
        if any(self._clock.now() < due.due_at for due in claimed):
            await self._set_clock()
        return claimed

    async def _set_clock(self) -> None:
        """Measure the log's clock again, with which this process's was just found not to agree."""
        try:
            await self._clock.measure()
        except EventLogError:
            _log.warning("clock not measured")
