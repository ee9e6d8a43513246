"""Group commit: while one flush is in flight, everything else queues up and goes together as the next one.

    settled ──► waiting ──take──► in flight ──► settled: the caller has its outcome
                   ▲                   │
                   └───── busy ────────┘   something it needs is held by somebody, or the flush failed as a whole

A flush that fails as a whole sends its commands back to go alone, so a poisonous one hurts itself only. One whose
connection is lost sends them back to be sent again, which is safe for commands that are carried out once however often
they come. A command that finds what it needs held goes again with the next flush; only when a flush settles nothing is
there a pause, which a new command ends. Each command has a deadline in all, after which its caller is told, also while
its flush goes on unanswered. A bug is logged, and hurts the flush that met it alone.

The loop belongs to the store, not to any caller: a caller who is cancelled gives up his wait, not the flush.
"""

import asyncio
import contextlib
import enum
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, Self, TypeVar

import structlog

from baohuang.database.flush_counts import FlushCounts
from baohuang.database.flush_queue import FlushQueue, Kind, Waiting
from baohuang.database.flush_traces import flushing, queued

C = TypeVar("C")
O = TypeVar("O")  # noqa: E741 (of a command and its outcome)


_log = structlog.get_logger("baohuang.database")


class Busy(enum.Enum):
    """Something that the command needs is held by somebody else: nothing was decided."""

    BUSY = enum.auto()


_BUSY: Final = "Busy"
_LOOK_AGAIN_SECONDS: Final = 0.5
"""How often it is looked for more who have waited long enough, while a flush is not answered."""
_MARGIN_SECONDS: Final = 1.0
_MOST_WINDOWS: Final = 12
"""How often a flush that is kept open is kept open again, at most."""


class FlushRefused(Exception):  # noqa: N818
    """The store refused a flush as a whole and wrote nothing; `cause` is what that means for one command."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


Send = Callable[[Sequence[C]], Awaitable[Sequence[O | Exception | Busy]]]
"""Settles a flush, in its order; an exception among the outcomes is raised to that one's caller.

For the flush as a whole it raises the kind's `busy` if it was not sent, `unknown` if the answer was lost, FlushRefused
if it was refused."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Limits of the flush loop; times in seconds.

    `between` is how long after the beginning of a flush the next one begins at the earliest, unless it is full: the
    more go together, the less each of them costs. One that comes alone is not kept waiting. `turns` are those of the
    event loop that a flush is kept open for, and again as often as they brought another command: so what has come in
    already and is being decided goes with it. That is no time at all in an idle process, and in a busy one the more the
    busier it is.
    """

    batch: int = 100
    waiting: int = 10_000
    patience: float = 5.0
    first_pause: float = 0.001
    longest_pause: float = 0.05
    between: float = 0.0
    turns: int = 0


class GroupCommit(Generic[C, O]):
    """The flush loop; an async context manager that drains on its way out."""

    def __init__(self, kind: Kind[C, O], send: Send[C, O], pace: Pace | None = None) -> None:
        self.counts = FlushCounts()
        self._kind: Final[Kind[C, O]] = kind
        self._send: Final = send
        self._pace: Final = pace or Pace()
        self._queue: Final[FlushQueue[C, O]] = FlushQueue(kind)
        self._in_flight: Sequence[Waiting[C, O]] = ()
        self._arrived: Final = asyncio.Event()
        self._closing = False
        self._next_at = 0.0
        self._flushing_since: float | None = None
        self._late: asyncio.TimerHandle | None = None
        self._loop: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._loop = asyncio.create_task(self._run(), name=f"{self._kind.name}: group commit")
        return self

    async def __aexit__(self, *_: object) -> None:
        self._closing = True
        self._arrived.set()
        if self._loop:
            # Then everybody has been told: what may be left is a flush that is not answered.
            await asyncio.wait([self._loop], timeout=self._pace.patience + _MARGIN_SECONDS)

    @property
    def name(self) -> str:
        """The name of its store."""
        return self._kind.name

    @property
    def waiting(self) -> int:
        """How many commands wait for their flush."""
        return self._queue.length

    @property
    def in_flight_seconds(self) -> float:
        """How long the flush that is under way has been so; 0 if none is."""
        since = self._flushing_since
        return 0.0 if since is None else time.monotonic() - since

    async def settled(self, command: C) -> O:
        """Wait for a command's outcome. Raises what its kind has for failures, and what the store raises for it."""
        if self._closing or self._loop is None or self._loop.done():
            raise self._kind.closed(f"the {self._kind.name} is closed")
        if self._queue.length >= self._pace.waiting:
            raise self._kind.busy(f"{self._queue.length} commands wait already")
        loop = asyncio.get_running_loop()
        waiting: Waiting[C, O] = Waiting(
            command, loop.time() + self._pace.patience, loop.create_future(), queued=queued()
        )
        self._queue.put(waiting)
        self._arrived.set()
        return await waiting.outcome

    async def _run(self) -> None:
        pause = self._pace.first_pause
        try:
            while await self._something_waits():
                await self._more_may_come()
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

    async def _more_may_come(self) -> None:
        await self._until_nothing_comes()
        if not self._pace.between:
            return
        left = self._next_at - asyncio.get_running_loop().time()
        if left > 0 and self._queue.length < self._pace.batch and not self._closing:
            await asyncio.sleep(left)
        self._next_at = asyncio.get_running_loop().time() + self._pace.between

    async def _until_nothing_comes(self) -> None:
        """Wait for as long as each few turns of the event loop bring another command, and not for ever."""
        length, quiet = self._queue.length, 0
        for _ in range(_MOST_WINDOWS * self._pace.turns):
            if quiet == self._pace.turns or length >= self._pace.batch:
                return
            await asyncio.sleep(0)
            quiet = quiet + 1 if self._queue.length == length else 0
            length = self._queue.length

    async def _arrival_within(self, seconds: float) -> None:
        self._arrived.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._arrived.wait()

    async def _flush(self, batch: Sequence[Waiting[C, O]]) -> int:
        """Send one batch and return for how many commands that brought something new, 0 asking for a pause."""
        try:
            settled = await self._sent(batch)
        except (self._kind.busy, self._kind.unknown) as error:
            return self._unsent(batch, error)
        except FlushRefused as error:
            return self._refused(batch, error.cause)
        except Exception as error:  # noqa: BLE001 - a bug in one flush must not end all those to come
            return self._failed(batch, error)
        return sum(self._settle(waiting, one) for waiting, one in zip(batch, settled, strict=True))

    async def _sent(self, batch: Sequence[Waiting[C, O]]) -> Sequence[O | Exception | Busy]:
        """Send one batch, for as long as it takes, and count it."""
        self._in_flight = batch
        self._flushing_since = began = time.monotonic()
        self._late = asyncio.get_running_loop().call_later(self._pace.patience, self._tell_late)
        try:
            with flushing(self._kind.name, [waiting.queued for waiting in batch]):
                settled = await self._send([waiting.command for waiting in batch])
        finally:
            self._late.cancel()
            self._flushing_since = None
        self.counts.commands.add(len(batch))
        self.counts.seconds.add(time.monotonic() - began)
        return settled

    def _tell_late(self) -> None:
        """Tell those whose time is up while a flush is under way; what becomes of theirs they find when they retry."""
        loop = asyncio.get_running_loop()
        for waiting in self._in_flight:
            if loop.time() >= waiting.deadline:
                waiting.fail(self._kind.unknown("sent, and no answer in time"))
        for waiting in self._queue:
            if loop.time() >= waiting.deadline:
                waiting.fail(self._kind.busy("not settled in time"))
        self._late = loop.call_later(_LOOK_AGAIN_SECONDS, self._tell_late)

    def _failed(self, batch: Sequence[Waiting[C, O]], bug: Exception) -> int:
        """Tell those of a flush that met a bug that nobody knows what became of them."""
        self.counts.bugs += 1
        _log.error("flush failed by a bug", store=self._kind.name, commands=len(batch), exc_info=bug)
        for waiting in batch:
            waiting.fail(self._kind.unknown(f"the flush failed by a bug: {type(bug).__name__}"))
        return len(batch)

    def _settle(self, waiting: Waiting[C, O], settled: O | Exception | Busy) -> int:
        if isinstance(settled, Busy):
            self.counts.outcomes[_BUSY] += 1
            return self._again(waiting, self._kind.busy("what it needs is held by somebody"))
        self.counts.outcomes[self._kind.word(settled)] += 1
        if isinstance(settled, Exception):
            waiting.fail(settled)
        else:
            waiting.answer(settled)
        return 1

    def _unsent(self, batch: Iterable[Waiting[C, O]], error: Exception) -> int:
        """Send everything again together, the connection being to blame."""
        self.counts.unsent += 1
        for waiting in batch:
            waiting.unsure |= isinstance(error, self._kind.unknown)
        return sum(self._again(waiting, error) for waiting in batch)

    def _refused(self, batch: Sequence[Waiting[C, O]], error: Exception) -> int:
        """Send everything again one by one, unless it was one: then it is to blame."""
        self.counts.refused += 1
        if len(batch) > 1:
            for waiting in batch:
                waiting.alone = True
                self._again(waiting, error)
            return len(batch)
        if isinstance(error, self._kind.unstorable):
            batch[0].fail(error)
            return 1
        return self._again(batch[0], error)

    def _again(self, waiting: Waiting[C, O], error: Exception) -> int:
        """Queue a command again, or tell its caller that time is up; return how many were settled."""
        if asyncio.get_running_loop().time() < waiting.deadline:
            self._queue.put_back(waiting)
            return 0
        unknown = self._kind.unknown(f"sent, and no answer in time: {error}")
        waiting.fail(unknown if waiting.unsure else self._kind.busy(f"not settled in time: {error}"))
        return 1

    def _give_up(self, left: Iterable[Waiting[C, O]]) -> None:
        """Tell everybody who still waits that the loop has ended, which it does with somebody waiting only by a bug."""
        for waiting in left:
            if waiting.outcome.done():
                continue
            waiting.fail(self._kind.unknown("the flush loop has ended"))
