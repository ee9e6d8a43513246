"""What one watcher is told: a snapshot or the missed events first, then every event as it is learnt."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, assert_never

from baohuang.gen.table.v1 import watch_pb2
from table_service.tables import HeldTable, Tables
from table_service.views import time_left, view_of
from table_service.watch.recent import Recent
from table_service.watch.subscription import Ending, Subscription, too_slow
from table_service.watch.telling import Told

_OVERFLOWS: Final = 1
"""Fresh snapshots a reader gets for being too slow, before he is cut off; a reader who keeps up earns them anew."""


class Reader:
    """One watcher's way through the events of a table; `begin` once, then `next` until there is nothing more."""

    def __init__(self, tables: Tables, recent: Recent, now: Callable[[], datetime], subscription: Subscription) -> None:
        self._tables = tables
        self._recent = recent
        self._now = now
        self._subscription = subscription
        self._player = subscription.player
        self._sent = 0
        self._overflows = 0
        self._ended = False

    async def begin(self, held: HeldTable, after_version: int) -> Sequence[Told]:
        """Return what brings him from a version to where the table is, at least one message. Raises LogUnavailable."""
        seen = held.seen_by(self._player)
        told = list(await self._opening(held, after_version))
        self._sent = told[-1].version if told else after_version
        self._subscription.notices.begin(self._sent, seen.table.hand.number if seen.table.hand else 0)
        if after_version:
            # Who resumes learns at once that the stream is open, and how much time is left now.
            told.append(self._heartbeat(held))
        return told

    async def next(self) -> Sequence[Told]:
        """Wait, and return what he is told next; nothing behind the message that ends the stream.

        Raises Exhausted (SLOW_READER), NotFound, LogUnavailable.
        """
        told: Sequence[Told] = ()
        while not told and not self._ended:
            told = await self._news()
        return told

    async def _opening(self, held: HeldTable, after_version: int) -> Sequence[Told]:
        """Return the missed events if they are few, else a snapshot of the table as it is now."""
        version = held.seen_by(self._player).version
        if after_version == version:
            return ()
        missed = await self._recent.missed(held.table_id, after_version, version) if after_version else None
        if missed is None:
            return (self._snapshot(held),)
        return [telling.to(self._player) for telling in missed]

    async def _news(self) -> Sequence[Told]:
        subscription = self._subscription
        await subscription.wait()
        silent = not subscription.has_news
        told = self._fresh()
        if told is None or (silent and await self._known() > self._sent):
            told = await self._snapshot_instead()
        self._sent = told[-1].version if told else self._sent
        told += [Told(self._sent, notice.message) for notice in subscription.notices.take(self._sent)]
        if subscription.ending:
            self._ended = True
            told.append(_ending(subscription.ending, self._sent))
        elif silent and not told:
            told.append(self._heartbeat(await self._tables.hold(subscription.table_id)))
        return told

    def _fresh(self) -> list[Told] | None:
        """Return the events he has not been told of, None if some never came by or were dropped.

        That a table was dropped and loaded again meanwhile shows by a gap. Raises Exhausted (SLOW_READER).
        """
        waiting = self._subscription.take()
        self._overflows = self._overflows + 1 if waiting is None else 0
        if self._overflows > _OVERFLOWS:
            raise too_slow()
        if waiting is None:
            return None
        fresh = [told for told in waiting if told.version > self._sent]
        return fresh if not fresh or fresh[0].version == self._sent + 1 else None

    async def _snapshot_instead(self) -> list[Told]:
        """Return a snapshot in the place of events, if it tells him anything new."""
        snapshot = self._snapshot(await self._tables.current(self._subscription.table_id))
        return [snapshot] if snapshot.version > self._sent else []

    async def _known(self) -> int:
        """Return the version he sees by what is held here, which what came to him should have brought him to."""
        return (await self._tables.hold(self._subscription.table_id)).seen_by(self._player).version

    def _snapshot(self, held: HeldTable) -> Told:
        view = view_of(held, self._player, self._now())
        return Told(view.version, watch_pb2.WatchTableResponse(snapshot=view).SerializeToString())

    def _heartbeat(self, held: HeldTable) -> Told:
        beat = watch_pb2.Heartbeat(version=self._sent, millis_left=time_left(held.seen_by(self._player), self._now()))
        return Told(self._sent, watch_pb2.WatchTableResponse(heartbeat=beat).SerializeToString())


def _ending(ending: Ending, version: int) -> Told:
    """Return the last message of a stream, which tells why it ends and how far it came."""
    match ending:
        case Ending.DRAINING:
            message = _reconnect(version, watch_pb2.RECONNECT_REASON_DRAINING)
        case Ending.CONNECTION_AGE:
            message = _reconnect(version, watch_pb2.RECONNECT_REASON_CONNECTION_AGE)
        case Ending.TAKEN_OVER:
            message = watch_pb2.WatchTableResponse(taken_over=watch_pb2.TakenOver(version=version))
        case _:
            assert_never(ending)
    return Told(version, message.SerializeToString())


def _reconnect(version: int, reason: "watch_pb2.ReconnectReason.ValueType") -> watch_pb2.WatchTableResponse:
    return watch_pb2.WatchTableResponse(reconnect=watch_pb2.Reconnect(version=version, reason=reason))
