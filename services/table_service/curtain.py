"""What spectators are not shown yet: the one place that keeps a table's `spectator_delay` (TABLE-1).

While a hand is played, whoever does not play it is shown an event only when so many further plays (CardsPlayed) have
been recorded after it; when the hand is over, or void, everything. Between hands nothing is kept back.
"""

from collections import deque
from collections.abc import Iterable, Sequence

from msgspec import Struct

from baohuang.eventlog.port import Version
from baohuang.rules.events import CardsPlayed
from baohuang.rules.state import Table, in_progress
from table_service.happened import Happened


class Seen(Struct, frozen=True):
    """A table as far as somebody sees it. `delayed`: there is more that he is not shown yet."""

    table: Table
    version: Version
    hash: bytes
    delayed: bool = False


class Learnt(Struct, frozen=True):
    """An event, and those that spectators are shown by it: as a rule itself."""

    happened: Happened
    shown: Sequence[Happened]

    @property
    def is_shown_at_once(self) -> bool:
        """Whether spectators are shown just this event, as everybody else is."""
        return len(self.shown) == 1 and self.shown[0] is self.happened


class Curtain:
    """The events of one table that are kept back, and the table before them."""

    __slots__ = ("_plays", "_seen", "_withheld")

    def __init__(self) -> None:
        self._withheld: deque[Happened] = deque()
        self._plays = 0
        self._seen: Seen | None = None

    @property
    def seen(self) -> Seen | None:
        """The table as spectators see it, None if nothing is kept back from them."""
        return self._seen

    def learn(self, before: Seen | None, happened: Iterable[Happened]) -> Sequence[Learnt]:
        """Take in what happened after `before` (None: there was no table), and tell what spectators are shown of it."""
        learnt = []
        for one in happened:
            learnt.append(self._take(before, one))
            before = _after(one)
        return learnt

    def _take(self, before: Seen | None, one: Happened) -> Learnt:
        delay = one.table.options.spectator_delay
        if before is None or not delay or not in_progress(one.table):
            return Learnt(one, self._lift(one))
        if self._seen is None:
            self._seen = Seen(before.table, before.version, before.hash, delayed=True)
        self._withheld.append(one)
        self._plays += _is_play(one)
        return Learnt(one, self._shown_by_now(delay))

    def _lift(self, one: Happened) -> Sequence[Happened]:
        if self._seen is None:
            return (one,)
        shown = (*self._withheld, one)
        self._withheld.clear()
        self._plays, self._seen = 0, None
        return shown

    def _shown_by_now(self, delay: int) -> Sequence[Happened]:
        """Return the events after which enough has been played by now, and see them from now on."""
        shown = []
        while self._plays - _is_play(self._withheld[0]) >= delay:
            shown.append(self._withheld.popleft())
            self._plays -= _is_play(shown[-1])
        if shown:
            self._seen = _after(shown[-1], delayed=True)
        return shown


def _after(one: Happened, *, delayed: bool = False) -> Seen:
    return Seen(one.table, one.stored.version, one.stored.hash, delayed)


def _is_play(one: Happened) -> bool:
    return isinstance(one.event, CardsPlayed)
