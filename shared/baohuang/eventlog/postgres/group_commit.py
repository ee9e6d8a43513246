"""Group commit: while one flush is in flight, everything else queues up and goes together as the next one.

    append ──► waiting ──take──► in flight ──► settled: the caller has its outcome
                 ▲                   │
                 └───── busy ────────┘   the head or a name is held by somebody, or the flush failed as a whole

A flush takes at most one command a stream and one a request, since it settles them all against the state before it;
names alone it settles in its order, in which those who give some up go first, so that others of it may take them. One
that fails as a whole sends its commands back to go alone, so a poisonous one hurts itself only. One whose connection is
lost sends them back to be sent again, which is safe because a request is accepted once. A command that finds its head
or a name busy goes again with the next flush; only when a flush settles nothing is there a pause, which a new command
ends. Each command has a deadline in all, after which its caller is told.

The loop belongs to the log, not to any caller: a caller who is cancelled gives up his wait, not the flush.
"""

import asyncio
import contextlib
import enum
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Self, assert_never

from baohuang.eventlog.chain import Link
from baohuang.eventlog.port import (
    Actor,
    Append,
    Appended,
    Duplicate,
    EventLogError,
    LogBusy,
    LogClosed,
    LogCorrupted,
    Outcome,
    OutcomeUnknown,
    Refused,
    RequestId,
    StreamId,
    TooEarly,
    TooLate,
    Unstorable,
    VersionConflict,
)


class Busy(enum.Enum):
    """The head of the command's stream or one of its names is held by somebody else: nothing was decided."""

    BUSY = enum.auto()


Settled = Outcome | LogCorrupted | Busy


@dataclass(frozen=True, slots=True)
class Linked:
    """A command with its events chained, ready to be written."""

    command: Append
    links: tuple[Link, ...]


class FlushRefused(Exception):  # noqa: N818
    """The store refused a flush as a whole and wrote nothing; `cause` is what that means for one command."""

    def __init__(self, cause: EventLogError) -> None:
        super().__init__(str(cause))
        self.cause = cause


Send = Callable[[Sequence[Linked]], Awaitable[Sequence[Settled]]]
"""Settles a flush, in its order. For the flush as a whole it raises LogBusy if it was not sent, OutcomeUnknown if the
answer was lost, FlushRefused if it was refused."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Limits of the flush loop; times in seconds."""

    batch: int = 100
    waiting: int = 10_000
    patience: float = 5.0
    first_pause: float = 0.001
    longest_pause: float = 0.05


@dataclass(slots=True)
class _Waiting:
    linked: Linked
    deadline: float
    outcome: "asyncio.Future[Outcome]"
    alone: bool = False
    unsure: bool = False

    def answer(self, outcome: Outcome) -> None:
        if not self.outcome.done():
            self.outcome.set_result(outcome)

    def fail(self, error: Exception) -> None:
        if not self.outcome.done():
            self.outcome.set_exception(error)


def _names_given_up_first(waiting: _Waiting) -> tuple[bool, bool]:
    """Order who only gives names up before who takes some too, and both before those who give up none."""
    command = waiting.linked.command
    return not command.releases, bool(command.claims)


@dataclass(slots=True)
class _Queue:
    """Waiting commands by stream, streams taking turns."""

    streams: dict[StreamId, deque[_Waiting]] = field(default_factory=dict)
    length: int = 0

    def put(self, waiting: _Waiting) -> None:
        self.streams.setdefault(waiting.linked.command.stream_id, deque()).append(waiting)
        self.length += 1

    def put_back(self, waiting: _Waiting) -> None:
        """Put back what was taken, at the front of its stream."""
        self.streams.setdefault(waiting.linked.command.stream_id, deque()).appendleft(waiting)
        self.length += 1

    def take(self, most: int) -> list[_Waiting]:
        """Take the first command of each of the first streams; one that has to go alone ends or makes the batch."""
        batch: list[_Waiting] = []
        requests: set[tuple[Actor, RequestId]] = set()
        for stream_id in list(self.streams):
            first = self._first(stream_id)
            if first is None:
                continue
            request = (first.linked.command.actor, first.linked.command.request_id)
            if len(batch) == most or (first.alone and batch):
                break
            if request in requests:
                continue
            requests.add(request)
            batch.append(self._pop(stream_id))
            if first.alone:
                break
        return sorted(batch, key=_names_given_up_first)

    def _first(self, stream_id: StreamId) -> _Waiting | None:
        """Return the first command of a stream that somebody still waits for."""
        commands = self.streams[stream_id]
        while commands and commands[0].outcome.done():
            commands.popleft()
            self.length -= 1
        if not commands:
            del self.streams[stream_id]
            return None
        return commands[0]

    def _pop(self, stream_id: StreamId) -> _Waiting:
        commands = self.streams.pop(stream_id)
        first = commands.popleft()
        self.length -= 1
        if commands:
            self.streams[stream_id] = commands
        return first


class GroupCommit:
    """The flush loop; an async context manager that drains on its way out."""

    def __init__(self, send: Send, pace: Pace | None = None) -> None:
        self._send: Final = send
        self._pace: Final = pace or Pace()
        self._queue: Final = _Queue()
        self._in_flight: Sequence[_Waiting] = ()
        self._arrived: Final = asyncio.Event()
        self._closing = False
        self._loop: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._loop = asyncio.create_task(self._run(), name="event log: group commit")
        return self

    async def __aexit__(self, *_: object) -> None:
        self._closing = True
        self._arrived.set()
        if self._loop:
            await self._loop

    async def append(self, linked: Linked) -> Outcome:
        """Wait for a command's outcome.

        Raises LogClosed, LogBusy, OutcomeUnknown, Unstorable, LogCorrupted.
        """
        if self._closing or self._loop is None or self._loop.done():
            raise LogClosed("the event log is closed")
        if self._queue.length >= self._pace.waiting:
            raise LogBusy(f"{self._queue.length} commands wait already")
        loop = asyncio.get_running_loop()
        waiting = _Waiting(linked, loop.time() + self._pace.patience, loop.create_future())
        self._queue.put(waiting)
        self._arrived.set()
        return await waiting.outcome

    async def _run(self) -> None:
        pause = self._pace.first_pause
        try:
            while await self._something_waits():
                batch = self._queue.take(self._pace.batch)
                # Nothing is taken when everybody who waited has given up.
                if not batch or await self._flush(batch):
                    pause = self._pace.first_pause
                else:
                    await self._arrival_within(pause)
                    pause = min(2 * pause, self._pace.longest_pause)
        finally:
            self._give_up((*self._in_flight, *self._queue.take(self._queue.length)))

    async def _something_waits(self) -> bool:
        while not self._queue.length and not self._closing:
            self._arrived.clear()
            await self._arrived.wait()
        return self._queue.length > 0

    async def _arrival_within(self, seconds: float) -> None:
        self._arrived.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._arrived.wait()

    async def _flush(self, batch: Sequence[_Waiting]) -> int:
        """Send one batch and return for how many commands that brought something new, 0 asking for a pause."""
        self._in_flight = batch
        try:
            settled = await self._send([waiting.linked for waiting in batch])
        except (LogBusy, OutcomeUnknown) as error:
            return self._unsent(batch, error)
        except FlushRefused as error:
            return self._refused(batch, error.cause)
        return sum(self._settle(waiting, one) for waiting, one in zip(batch, settled, strict=True))

    def _settle(self, waiting: _Waiting, settled: Settled) -> int:
        match settled:
            case Appended() | VersionConflict() | Duplicate() | Refused() | TooEarly() | TooLate():
                waiting.answer(settled)
            case LogCorrupted():
                waiting.fail(settled)
            case Busy.BUSY:
                command = waiting.linked.command
                return self._again(
                    waiting, LogBusy(f"the head of {command.stream_id} or one of its names is held by somebody")
                )
            case _:
                assert_never(settled)
        return 1

    def _unsent(self, batch: Iterable[_Waiting], error: LogBusy | OutcomeUnknown) -> int:
        """Send everything again together, the connection being to blame."""
        for waiting in batch:
            waiting.unsure |= isinstance(error, OutcomeUnknown)
        return sum(self._again(waiting, error) for waiting in batch)

    def _refused(self, batch: Sequence[_Waiting], error: EventLogError) -> int:
        """Send everything again one by one, unless it was one: then it is to blame."""
        if len(batch) > 1:
            for waiting in batch:
                waiting.alone = True
                self._again(waiting, error)
            return len(batch)
        if isinstance(error, Unstorable):
            batch[0].fail(error)
            return 1
        return self._again(batch[0], error)

    def _again(self, waiting: _Waiting, error: Exception) -> int:
        """Queue a command again, or tell its caller that time is up; return how many were settled."""
        if asyncio.get_running_loop().time() < waiting.deadline:
            self._queue.put_back(waiting)
            return 0
        unknown = OutcomeUnknown(f"sent, and no answer in time: {error}")
        waiting.fail(unknown if waiting.unsure else LogBusy(f"not settled in time: {error}"))
        return 1

    @staticmethod
    def _give_up(left: Iterable[_Waiting]) -> None:
        """Tell everybody who still waits that the loop has ended, which it does with somebody waiting only by a bug."""
        for waiting in left:
            waiting.fail(OutcomeUnknown("the flush loop has ended"))
