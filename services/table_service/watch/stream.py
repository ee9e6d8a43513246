"""One watcher's stream: a snapshot or the missed events first, then every event as it is learnt."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from datetime import datetime
from typing import Final, assert_never

from baohuang.gen.table.v1 import watch_pb2
from baohuang.rpc.errors import MalformedInput
from baohuang.rules.state import PlayerId, TableId, seat_of
from table_service.neighbours import Neighbours
from table_service.privacy import Visitor, check_admitted
from table_service.tables import HeldTable, Tables
from table_service.views import time_left, view_of, viewer_seat
from table_service.watch.hub import Hub
from table_service.watch.lines import Lines
from table_service.watch.subscription import Cut, Ending, Subscription, too_slow
from table_service.watch.telling import Told

_OVERFLOWS: Final = 1
"""Fresh snapshots a reader gets for being too slow, before he is cut off; a reader who keeps up earns them anew."""


class Watching:
    """Opens streams of tables."""

    def __init__(
        self, tables: Tables, hub: Hub, lines: Lines, neighbours: Neighbours, now: Callable[[], datetime]
    ) -> None:
        self._tables = tables
        self._hub = hub
        self._lines = lines
        self._neighbours = neighbours
        self._now = now

    async def check(self, table_id: TableId, visitor: Visitor, after_version: int) -> None:
        """Raise the Refusal with which `watch` would begin: NotFound, MalformedInput."""
        _check(await self._tables.current(table_id), visitor, after_version)

    async def watch(
        self, table_id: TableId, visitor: Visitor, after_version: int, cut: Cut
    ) -> AsyncGenerator[Told, None]:
        """Yield the table's stream as the visitor may see it, ready to be sent; versions are contiguous.

        Whoever has a seat at the table takes over his older streams of it. `cut` is called when what was yielded is
        not taken in for too long; it has to close this generator. Ends after a Reconnect or TakenOver.

        Raises Refusal: NotFound, MalformedInput (a version the table has not reached), Exhausted (SLOW_READER).
        """
        held, player = await self._tables.current(table_id), visitor.player
        _check(held, visitor, after_version)
        with self._hub.subscribe(table_id, player, cut) as subscription:
            if _has_seat(held, player):
                self._hub.take_over(subscription)
                self._neighbours.watching(table_id, player, subscription.watch_id)
            with self._lines.carried_by(subscription):
                async with aclosing(self._told(held, subscription, after_version)) as stream:
                    async for told in stream:
                        yield told
                        subscription.progress()

    async def _told(
        self, held: HeldTable, subscription: Subscription, after_version: int
    ) -> AsyncGenerator[Told, None]:
        sent, seen = after_version, held.seen_by(subscription.player).table
        for told in await self._opening(held, subscription.player, after_version):
            sent = told.version
            yield told
        subscription.notices.begin(sent, seen.hand.number if seen.hand else 0)
        if after_version:
            # Who resumes learns at once that the stream is open, and how much time is left now.
            yield self._heartbeat(held, subscription.player, sent)
        async with aclosing(self._follow(subscription, sent)) as following:
            async for told in following:
                yield told

    async def _opening(self, held: HeldTable, player: PlayerId, after_version: int) -> Sequence[Told]:
        """Return the missed events if they are few, else a snapshot of the table as it is now."""
        version = held.seen_by(player).version
        if after_version == version:
            return ()
        missed = await self._hub.recent.missed(held.table_id, after_version, version) if after_version else None
        if missed is None:
            return (self._snapshot(held, player),)
        return [telling.to(player) for telling in missed]

    async def _follow(self, subscription: Subscription, sent: int) -> AsyncGenerator[Told, None]:
        overflows = 0
        while True:
            await subscription.wait()
            known = sent if subscription.has_news else await self._known(subscription)
            waiting = subscription.take()
            overflows = overflows + 1 if waiting is None else 0
            if overflows > _OVERFLOWS:
                raise too_slow()
            if waiting is None or _misses_some(waiting, sent, known):
                held = await self._tables.current(subscription.table_id)
                waiting = (self._snapshot(held, subscription.player),)
            for told in waiting:
                if told.version > sent:
                    sent = told.version
                    yield told
            notices = subscription.notices.take(sent)
            for notice in notices:
                yield Told(sent, notice.message)
            if subscription.ending:
                yield _ending(subscription.ending, sent)
                return
            if not waiting and not notices:
                held = await self._tables.hold(subscription.table_id)
                yield self._heartbeat(held, subscription.player, sent)

    def _snapshot(self, held: HeldTable, player: PlayerId) -> Told:
        view = view_of(held, player, self._now())
        return Told(view.version, watch_pb2.WatchTableResponse(snapshot=view).SerializeToString())

    def _heartbeat(self, held: HeldTable, player: PlayerId, sent: int) -> Told:
        beat = watch_pb2.Heartbeat(version=sent, millis_left=time_left(held.seen_by(player), self._now()))
        return Told(sent, watch_pb2.WatchTableResponse(heartbeat=beat).SerializeToString())

    async def _known(self, subscription: Subscription) -> int:
        """Return the version he sees by what is held here, which what came to him should have brought him to."""
        return (await self._tables.hold(subscription.table_id)).seen_by(subscription.player).version


def _check(held: HeldTable, visitor: Visitor, after_version: int) -> None:
    if held.table is not None:
        check_admitted(held.table, visitor)
    version = held.seen_by(visitor.player).version
    if after_version > version:
        raise MalformedInput.field("after_version", f"the table is at version {version}")


def _has_seat(held: HeldTable, player: PlayerId) -> bool:
    """Tell whether the player sits at the table or plays its hand."""
    table = held.whole.table
    return seat_of(table, player) is not None or viewer_seat(table, player) is not None


def _misses_some(waiting: Sequence[Told], sent: int, known: int) -> bool:
    """Tell whether events between `sent` and what waits never came by: the table was dropped and loaded meanwhile."""
    first = next((told.version for told in waiting if told.version > sent), known + 1)
    return first > sent + 1


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
