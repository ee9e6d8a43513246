"""What waits for a flush: commands in lanes, lanes taking turns.

A flush takes at most one command of a lane, and one of each thing that its commands name as their own, since it settles
them all against the state before it.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from baohuang.database.flush_traces import Queued

C = TypeVar("C")
O = TypeVar("O")  # noqa: E741 (of a command and its outcome)


def _nothing(_command: object) -> Sequence[Hashable]:
    return ()


def _no_order(_command: object) -> int:
    return 0


@dataclass(frozen=True, slots=True)
class Kind(Generic[C, O]):
    """What has to be known of a kind of command for it to be flushed, and how its callers are told of failures.

    `lane` and `alone_with` are what a flush has one command of; those of a lane go in the order they came. `order` is
    what a flush is sorted by. `busy` says that nothing was written, `unknown` that something may have been, `closed`
    that commands are not taken any more, `unstorable` that this one never will be. `word` is what an outcome, or an
    error in its place, is counted as: for operators, so it is nothing's name in the code.
    """

    name: str
    lane: Callable[[C], Hashable]
    word: Callable[[O | Exception], str]
    busy: type[Exception]
    unknown: type[Exception]
    closed: type[Exception]
    unstorable: type[Exception]
    alone_with: Callable[[C], Sequence[Hashable]] = _nothing
    order: Callable[[C], Any] = _no_order


@dataclass(slots=True, eq=False)
class Waiting(Generic[C, O]):
    """A command and who waits for its outcome. `alone` in its flush; `unsure` whether it was not settled before.

    `queued` is its place in a trace, if that is told.
    """

    command: C
    deadline: float
    outcome: "asyncio.Future[O]"
    alone: bool = False
    unsure: bool = False
    queued: Queued | None = None

    def answer(self, outcome: O) -> None:
        """Tell the caller, if he still waits."""
        if not self.outcome.done():
            self.outcome.set_result(outcome)

    def fail(self, error: Exception) -> None:
        """Tell the caller that there is no outcome, if he still waits."""
        if not self.outcome.done():
            self.outcome.set_exception(error)


@dataclass(slots=True)
class FlushQueue(Generic[C, O]):
    """Waiting commands by lane."""

    kind: Kind[C, O]
    lanes: dict[Hashable, deque[Waiting[C, O]]] = field(default_factory=dict)
    length: int = 0

    def put(self, waiting: Waiting[C, O]) -> None:
        """Queue a command behind the others of its lane."""
        self.lanes.setdefault(self.kind.lane(waiting.command), deque()).append(waiting)
        self.length += 1

    def put_back(self, waiting: Waiting[C, O]) -> None:
        """Put back what was taken, at the front of its lane."""
        self.lanes.setdefault(self.kind.lane(waiting.command), deque()).appendleft(waiting)
        self.length += 1

    def take(self, most: int) -> list[Waiting[C, O]]:
        """Take the first command of each of the first lanes; one that has to go alone ends or makes the batch."""
        batch: list[Waiting[C, O]] = []
        named: set[Hashable] = set()
        for lane in list(self.lanes):
            first = self._first(lane)
            if first is None:
                continue
            names = self.kind.alone_with(first.command)
            if len(batch) == most or (first.alone and batch):
                break
            if not named.isdisjoint(names):
                continue
            named.update(names)
            batch.append(self._pop(lane))
            if first.alone:
                break
        return sorted(batch, key=lambda waiting: self.kind.order(waiting.command))

    def __iter__(self) -> Iterator[Waiting[C, O]]:
        """Go through all that wait, in no order that means anything."""
        for commands in self.lanes.values():
            yield from commands

    def _first(self, lane: Hashable) -> Waiting[C, O] | None:
        """Return the first command of a lane that somebody still waits for."""
        commands = self.lanes[lane]
        while commands and commands[0].outcome.done():
            commands.popleft()
            self.length -= 1
        if not commands:
            del self.lanes[lane]
            return None
        return commands[0]

    def _pop(self, lane: Hashable) -> Waiting[C, O]:
        commands = self.lanes.pop(lane)
        first = commands.popleft()
        self.length -= 1
        if commands:
            self.lanes[lane] = commands
        return first
