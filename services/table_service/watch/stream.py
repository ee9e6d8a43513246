"""One watcher's stream: a snapshot or the missed events first, then every event as it is learnt."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from datetime import datetime

from baohuang.eventlog.codec import decode
from baohuang.eventlog.port import EventLog, LogUnavailable, StreamId
from baohuang.gen.table.v1 import watch_pb2
from baohuang.rpc.errors import Exhausted, MalformedInput, Reason
from baohuang.rules.state import PlayerId, TableId, in_progress
from table_service.tables import HAND_STARTED, HeldTable, Tables, replay
from table_service.views import heartbeat_for, snapshot_for
from table_service.watch.hub import Hub, Subscription
from table_service.watch.telling import Telling, Told

HEARTBEAT_SECONDS = 15.0
_OVERFLOWS = 1
"""Fresh snapshots a reader gets for being too slow, before he is cut off; a reader who keeps up earns them anew."""


class Watching:
    """Opens streams of tables."""

    def __init__(
        self,
        log: EventLog,
        tables: Tables,
        hub: Hub,
        now: Callable[[], datetime],
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
    ) -> None:
        self._log = log
        self._tables = tables
        self._hub = hub
        self._now = now
        self._heartbeat_seconds = heartbeat_seconds

    async def watch(self, table_id: TableId, player: PlayerId, after_version: int) -> AsyncGenerator[Told, None]:
        """Yield the table's stream as the player may see it, ready to be sent; versions are contiguous.

        Ends after a Reconnect. Raises Refusal: NotFound, MalformedInput (a version the table has not reached),
        Exhausted (SLOW_READER).
        """
        held = await self._tables.current(table_id)
        with self._hub.subscribe(table_id, player) as subscription:
            if after_version > held.version:
                raise MalformedInput.field("after_version", f"the table is at version {held.version}")
            sent = after_version
            for told in await self._opening(held, player, after_version):
                sent = told.version
                yield told
            if after_version:
                # Who resumes learns at once that the stream is open, and how much time is left now.
                yield self._heartbeat(held, sent)
            async with aclosing(self._follow(table_id, subscription, sent)) as following:
                async for told in following:
                    yield told

    async def _opening(self, held: HeldTable, player: PlayerId, after_version: int) -> Sequence[Told]:
        """Return the missed events if they are of the current hand, else a snapshot of the table as it is now."""
        if after_version == held.version:
            return ()
        if after_version and held.table is not None and in_progress(held.table):
            missed = await self._missed(held, player, after_version)
            if missed and missed[0].version == after_version + 1:
                return missed
        return (self._snapshot(held, player),)

    async def _missed(self, held: HeldTable, player: PlayerId, after_version: int) -> Sequence[Told]:
        stored = await self._log.read_since_last(StreamId(held.table_id), HAND_STARTED)
        events = [decode(event.type, event.data) for event in stored]
        return [
            Telling(happened).to(player)
            for happened in replay(None, stored, events)
            if happened.stored.version > after_version
        ]

    async def _follow(self, table_id: TableId, subscription: Subscription, sent: int) -> AsyncGenerator[Told, None]:
        overflows = 0
        while True:
            known = sent if await subscription.wait(self._heartbeat_seconds) else await self._polled(table_id, sent)
            waiting = subscription.take()
            overflows = overflows + 1 if waiting is None else 0
            if overflows > _OVERFLOWS:
                raise Exhausted(Reason.SLOW_READER, "you read too slowly: watch again from the version you have")
            if waiting is None or _misses_some(waiting, sent, known):
                waiting = (self._snapshot(await self._tables.current(table_id), subscription.player),)
            for told in waiting:
                if told.version > sent:
                    sent = told.version
                    yield told
            if subscription.draining:
                yield _reconnect(sent)
                return
            if not waiting:
                yield self._heartbeat(await self._tables.hold(table_id), sent)

    def _snapshot(self, held: HeldTable, player: PlayerId) -> Told:
        return Told(held.version, snapshot_for(held, player, self._now()).SerializeToString())

    def _heartbeat(self, held: HeldTable, sent: int) -> Told:
        return Told(sent, heartbeat_for(held.table, sent, self._now()).SerializeToString())

    async def _polled(self, table_id: TableId, sent: int) -> int:
        """Return the table's version by the log, where another replica may have appended; `sent` without an answer.

        What is new comes by way of the hub.
        """
        try:
            return (await self._tables.current(table_id)).version
        except LogUnavailable:
            return sent


def _misses_some(waiting: Sequence[Told], sent: int, known: int) -> bool:
    """Tell whether events between `sent` and what waits never came by: the table was dropped and loaded meanwhile."""
    first = next((told.version for told in waiting if told.version > sent), known + 1)
    return first > sent + 1


def _reconnect(version: int) -> Told:
    reason = watch_pb2.ReconnectReason.RECONNECT_REASON_DRAINING
    message = watch_pb2.WatchTableResponse(reconnect=watch_pb2.Reconnect(version=version, reason=reason))
    return Told(version, message.SerializeToString())
