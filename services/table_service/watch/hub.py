"""Who watches which table, and what each of them is sent."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from msgspec import Struct

from baohuang.rpc.errors import Exhausted, Refusal
from baohuang.rules.state import PlayerId, TableId
from table_service.curtain import Learnt
from table_service.identifiers import WatchId
from table_service.watch.notices import Notice
from table_service.watch.recent import Recent
from table_service.watch.subscription import Cut, Ending, StreamLimits, Subscription
from table_service.watch.telling import Telling, Told


class _Step(Struct, frozen=True):
    """An event in the form it is told in, and what spectators are shown by it."""

    live: Telling
    shown: Sequence[Telling]

    @classmethod
    def of(cls, one: Learnt) -> "_Step":
        live = Telling(one.happened)
        return cls(live, (live,) if one.is_shown_at_once else tuple(map(Telling, one.shown)))

    @property
    def to_all(self) -> Told | None:
        """What everybody is told by it alike, None if that depends on who he is."""
        return self.live.to_all if self._is_shown_at_once else None

    def to(self, player: PlayerId) -> Iterator[Told]:
        live = self._is_shown_at_once or self.live.is_played_by(player)
        return (telling.to(player) for telling in ((self.live,) if live else self.shown))

    @property
    def _is_shown_at_once(self) -> bool:
        return len(self.shown) == 1 and self.shown[0] is self.live


class Hub:
    """The watchers of all tables of this replica; a stream may subscribe to many."""

    def __init__(self, limits: StreamLimits, new_id: Callable[[], WatchId], recent: Recent) -> None:
        self._limits = limits
        self._new_id = new_id
        self.recent = recent
        self._watching: defaultdict[TableId, set[Subscription]] = defaultdict(set)
        self.slow_readers = 0
        self._draining = False
        self._leaving: set[Callable[[], None]] = set()

    @contextmanager
    def when_draining(self, leave: Callable[[], None]) -> Iterator[None]:
        """Have `leave` called when the server goes away; at once, if it is going already."""
        if self._draining:
            leave()
        self._leaving.add(leave)
        try:
            yield
        finally:
            self._leaving.discard(leave)

    @contextmanager
    def subscribe(self, table_id: TableId, player: PlayerId, cut: Cut) -> Iterator[Subscription]:
        """Subscribe a player to what happens at a table from now on; `cut` ends his stream where it stands."""
        subscription = Subscription(table_id, player, self._new_id(), self._limits, cut)
        if self._draining:
            subscription.end(Ending.DRAINING)
        self._watching[table_id].add(subscription)
        try:
            yield subscription
        except Exhausted:
            self.slow_readers += 1
            raise
        finally:
            self.slow_readers += subscription.is_cut
            subscription.close()
            self._watching[table_id].discard(subscription)
            if not self._watching[table_id]:
                del self._watching[table_id]

    def take_over(self, subscription: Subscription) -> None:
        """End all other streams that the player of a seat has of the table here."""
        for other in self._streams_of(subscription.table_id, subscription.player):
            if other is not subscription:
                other.end(Ending.TAKEN_OVER)

    def taken_elsewhere(self, table_id: TableId, player: PlayerId, stream: str) -> None:
        """Hear that the player of a seat opened a stream on another replica: his older ones here end."""
        for other in self._streams_of(table_id, player):
            if other.watch_id < stream:
                other.end(Ending.TAKEN_OVER)

    def publish(self, table_id: TableId, learnt: Sequence[Learnt]) -> None:
        """Offer what was learnt, in order, to all who watch the table: to players at once, to spectators what is shown.

        Whose hand it is, is asked for each event: so a player of one hand who only watches the next misses nothing.
        """
        watching = self._watching.get(table_id)
        if not watching:
            self.recent.forget(table_id)
            return
        steps = [_Step.of(one) for one in learnt]
        for step in steps:
            self.recent.learn(table_id, step.live)
        alike = _told_alike(steps)
        for subscription in watching:
            if told := alike or [told for step in steps for told in step.to(subscription.player)]:
                subscription.offer(told)

    def notify(self, table_id: TableId, notice: Notice) -> None:
        """Offer a notice to all who watch the table; each is told when he has seen what it is about."""
        for subscription in self._watching.get(table_id, ()):
            subscription.notify(notice)

    def refuse(self, table_id: TableId, refusal: Refusal) -> None:
        """End all streams of a table that cannot be shown here, with that refusal."""
        for subscription in tuple(self._watching.get(table_id, ())):
            subscription.refuse(refusal)

    @property
    def watches(self) -> int:
        """How many watches are open."""
        return sum(map(len, tuple(self._watching.values())))

    @property
    def is_draining(self) -> bool:
        """Whether the server is going away."""
        return self._draining

    def has_stream(self, table_id: TableId, player: PlayerId) -> bool:
        """Whether the player watches the table here."""
        return bool(self._streams_of(table_id, player))

    def is_watched(self, table_id: TableId) -> bool:
        """Whether anybody watches the table here."""
        return table_id in self._watching

    def watched(self) -> Sequence[TableId]:
        """Return the tables that somebody watches here."""
        return tuple(self._watching)

    def drain(self) -> None:
        """Tell every watcher to reconnect, and all who come from now on."""
        self._draining = True
        for leave in tuple(self._leaving):
            leave()
        for watching in self._watching.values():
            for subscription in watching:
                subscription.end(Ending.DRAINING)

    def _streams_of(self, table_id: TableId, player: PlayerId) -> Sequence[Subscription]:
        return [one for one in self._watching.get(table_id, ()) if one.player == player]


def _told_alike(steps: Sequence[_Step]) -> Sequence[Told] | None:
    """Return what everybody is told by the steps, None if that depends on who he is."""
    alike = [told for step in steps if (told := step.to_all)]
    return alike if len(alike) == len(steps) else None
