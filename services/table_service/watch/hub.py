"""Who watches which table, and what each of them is sent."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from baohuang.rules.state import PlayerId, TableId
from table_service.tables import Happened
from table_service.watch.telling import Telling, Told

UPDATES_QUEUED = 256
"""Updates that may wait for one watcher; more, and he gets a fresh snapshot instead."""


class Subscription:
    """One watcher's queue. When it overflows it is emptied and says so once."""

    def __init__(self, player: PlayerId, limit: int) -> None:
        self.player = player
        self._limit = limit
        self._waiting: list[Told] = []
        self._awake = asyncio.Event()
        self._overflowed = False
        self._draining = False

    def offer(self, told: Told) -> None:
        """Queue an update; beyond the limit all that waits is dropped, and `take` reports an overflow."""
        if len(self._waiting) >= self._limit:
            self._waiting.clear()
            self._overflowed = True
        if not self._overflowed:
            self._waiting.append(told)
        self._awake.set()

    def drain(self) -> None:
        """Tell the watcher to reconnect, after what he has been sent."""
        self._draining = True
        self._awake.set()

    @property
    def draining(self) -> bool:
        """Whether the server is going away."""
        return self._draining

    async def wait(self, seconds: float) -> bool:
        """Wait until there is something to take, for so long at most; False if there is nothing."""
        try:
            await asyncio.wait_for(self._awake.wait(), seconds)
        except TimeoutError:
            return False
        return True

    def take(self) -> Sequence[Told] | None:
        """Return what waits, in order; None after an overflow: a snapshot has to take its place."""
        waiting, self._waiting = self._waiting, []
        overflowed, self._overflowed = self._overflowed, False
        self._awake.clear()
        return None if overflowed else waiting


class Hub:
    """The watchers of all tables of this replica."""

    def __init__(self, queued: int = UPDATES_QUEUED) -> None:
        self._queued = queued
        self._watching: defaultdict[TableId, set[Subscription]] = defaultdict(set)
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
    def subscribe(self, table_id: TableId, player: PlayerId) -> Iterator[Subscription]:
        """Subscribe a player to what happens at a table from now on."""
        subscription = Subscription(player, self._queued)
        if self._draining:
            subscription.drain()
        self._watching[table_id].add(subscription)
        try:
            yield subscription
        finally:
            self._watching[table_id].discard(subscription)
            if not self._watching[table_id]:
                del self._watching[table_id]

    def publish(self, table_id: TableId, happened: Sequence[Happened]) -> None:
        """Offer events, in order, to all who watch the table."""
        watching = self._watching.get(table_id)
        if not watching:
            return
        for telling in map(Telling, happened):
            for subscription in watching:
                subscription.offer(telling.to(subscription.player))

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
                subscription.drain()
