"""One watcher's side of the hub: what waits to be sent to him, and why his stream is to end.

One timer, that follows the stream about instead of being set for every message, sees to its signs of life and finds a
stream that stands still: a reader who takes nothing in holds up the writer as soon as his window is full.
"""

import asyncio
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from baohuang.rpc.errors import Exhausted, Reason, Refusal
from baohuang.rules.state import PlayerId, TableId
from table_service.identifiers import WatchId
from table_service.watch.notices import Notice, Notices
from table_service.watch.telling import Told

_A_MOMENT_SECONDS: Final = 1.0
"""No write that takes less is held up, however much happens meanwhile."""


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """What a stream may cost.

    Where `queued` updates wait already, all that waits makes way for a snapshot; what one command brings about is
    never too much at once. After `heartbeat_seconds` without anything to say
    comes a sign of life; one message may take `stuck_seconds` to be taken in, and the stream lasts `age_seconds`, give
    or take a tenth.
    """

    queued: int = 256
    heartbeat_seconds: float = 15.0
    stuck_seconds: float = 20.0
    age_seconds: float = math.inf

    def lifetime(self) -> float:
        """Return for how long one stream is to last: each for another time, so that a crowd does not leave at once."""
        return self.age_seconds * random.uniform(0.9, 1.1)  # noqa: S311 - spreads a crowd


class Ending(Enum):
    """Why a stream ends in order."""

    DRAINING = "the server is going away"
    CONNECTION_AGE = "the stream is as old as a connection gets"
    TAKEN_OVER = "the player opened another stream"


Cut = Callable[[Refusal], None]
"""Ends a stream with that refusal, from outside and whatever it waits for."""


class Subscription:
    """What waits for one watcher. When too much does, it is dropped and a snapshot has to take its place."""

    def __init__(self, table_id: TableId, player: PlayerId, watch_id: WatchId, limits: StreamLimits, cut: Cut) -> None:
        self.table_id = table_id
        self.player = player
        self.watch_id = watch_id
        self.ending: Ending | None = None
        self.notices = Notices()
        self.is_cut = False
        self._limits = limits
        self._cut = cut
        self._waiting: list[Told] = []
        self._dropped = 0
        self._waiter: asyncio.Future[None] | None = None
        self._loop = asyncio.get_running_loop()
        self._since = self._loop.time()
        self._timers = [self._loop.call_later(min(limits.heartbeat_seconds, limits.stuck_seconds), self._look)]
        if limits.age_seconds < math.inf:
            self._timers.append(self._loop.call_later(limits.lifetime(), self.end, Ending.CONNECTION_AGE))

    def close(self) -> None:
        """Stop the timers."""
        for timer in self._timers:
            timer.cancel()

    def offer(self, told: Sequence[Told]) -> None:
        """Queue updates of one command; if too many wait already all is dropped, and `take` reports it.

        A hand that trustees play to its end is many events at once, and nobody's reading is too slow for them.
        """
        if self._dropped:
            self._drop(len(told))
        elif len(self._waiting) < self._limits.queued:
            self._waiting.extend(told)
        else:
            self._drop(len(self._waiting) + len(told))
            self._waiting.clear()
        self._wake()

    def notify(self, notice: Notice) -> None:
        """Keep a notice for him until he has seen what it is about."""
        self.notices.offer(notice)
        if self.notices.due:
            self._wake()

    def end(self, ending: Ending) -> None:
        """Have the stream end in order, after what waits. Who was taken over is told that, whatever came before."""
        if self.ending is None or ending is Ending.TAKEN_OVER:
            self.ending = ending
        self._wake()

    def refuse(self, refusal: Refusal) -> None:
        """Have the stream end at once, with that refusal."""
        self._cut(refusal)

    @property
    def has_news(self) -> bool:
        """Whether there is anything to tell the watcher."""
        return bool(self._waiting or self._dropped or self.ending or self.notices.due)

    async def wait(self) -> None:
        """Wait until something waits, the stream is to end, or it has been silent for long enough."""
        self.progress()
        if not self.has_news:
            self._waiter = self._loop.create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
                self.progress()

    def take(self) -> Sequence[Told] | None:
        """Return what waits, in order; None after an overflow: a snapshot has to take its place."""
        waiting, self._waiting = self._waiting, []
        dropped, self._dropped = self._dropped, 0
        return None if dropped else waiting

    def progress(self) -> None:
        """Note that the stream moves: its reader has taken in what was written to him."""
        self._since = self._loop.time()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _drop(self, updates: int) -> None:
        self._dropped += updates
        stuck = self._waiter is None and self._loop.time() - self._since > _A_MOMENT_SECONDS
        if stuck and self._dropped > 2 * self._limits.queued:
            self._cut_off()

    def _cut_off(self) -> None:
        self.is_cut = True
        self._cut(too_slow())

    def _look(self) -> None:
        """Wake a stream that has been silent, cut one that stands still, and look again when either may be due."""
        idle, now = self._waiter is not None, self._loop.time()
        due = self._since + (self._limits.heartbeat_seconds if idle else self._limits.stuck_seconds)
        if now >= due and not idle:
            self._cut_off()
            return
        if now >= due:
            self._wake()
        # Who writes now may be idle the next moment, so never later than a sign of life would be due then.
        latest = now + self._limits.heartbeat_seconds
        self._timers[0] = self._loop.call_at(min(due, latest) if now < due else latest, self._look)


def too_slow() -> Exhausted:
    """Return what a stream is cut with whose reader does not keep up."""
    return Exhausted(Reason.SLOW_READER, "you read too slowly: watch again from the version you have")
