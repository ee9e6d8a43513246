"""Notices that wait for one watcher: what happened beside the table's versions, told when he may know of it.

    offered ──► waits until he has been shown the version it follows from ──► told
       │          │
       │          └──► dropped: too many wait
       └──► of before his stream began, or offered before: dropped

A notice is a convenience: whoever misses it asks the service that it comes from.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

WAITING: Final = 16
"""Notices that may wait for one watcher; more, and the oldest are dropped."""
_NOT_YET: Final = -1
"""Before any version."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A serialized `WatchTableResponse`, the same for all watchers.

    `number` tells it from others and grows. It follows from what happened at the table's `version`; `hand` is the hand
    it is the outcome of, 0 if it is of none.
    """

    number: int
    version: int
    hand: int
    message: bytes


class Notices:
    """The notices of one watcher's stream."""

    __slots__ = ("_began_at", "_last_hand", "_newest", "_shown", "_waiting")

    def __init__(self) -> None:
        self._waiting: deque[Notice] = deque(maxlen=WAITING)
        self._newest = 0
        self._began_at = _NOT_YET
        self._last_hand = 0
        self._shown = _NOT_YET

    def begin(self, version: int, last_hand: int) -> None:
        """Note the version that the stream begins with, and the last hand then, 0 if there was none."""
        self._began_at = self._shown = version
        self._last_hand = last_hand
        of_its_time = [notice for notice in self._waiting if self._is_of_its_time(notice)]
        self._waiting.clear()
        self._waiting.extend(of_its_time)

    def offer(self, notice: Notice) -> None:
        """Have a notice wait, if it is of the stream's time and not one that was offered before."""
        if notice.number > self._newest and self._is_of_its_time(notice):
            self._newest = notice.number
            self._waiting.append(notice)

    @property
    def due(self) -> bool:
        """Whether one may be told by what he has been shown. Those of one table follow from its versions in order."""
        return bool(self._waiting) and self._waiting[0].version <= self._shown

    def take(self, shown: int) -> Sequence[Notice]:
        """Return those to be told now that he has been shown this version, in order."""
        self._shown = shown
        taken = []
        while self.due:
            taken.append(self._waiting.popleft())
        return taken

    def _is_of_its_time(self, notice: Notice) -> bool:
        return notice.version > self._began_at or 0 < notice.hand == self._last_hand
