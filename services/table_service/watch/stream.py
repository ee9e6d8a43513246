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
from table_service.views import heartbeat_for, snapshot_for, update_for, viewer_seat
from table_service.watch.hub import Hub, Subscription

HEARTBEAT_SECONDS = 15.0
_OVERFLOWS = 1
"""Fresh snapshots a reader gets for being too slow, before he is cut off; a reader who keeps up earns them anew."""

Response = watch_pb2.WatchTableResponse


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

    async def watch(self, table_id: TableId, player: PlayerId, after_version: int) -> AsyncGenerator[Response, None]:
        """Yield the table's stream as the player may see it; versions are contiguous.

        Ends after a Reconnect. Raises Refusal: NotFound, MalformedInput (a version the table has not reached),
        Exhausted (SLOW_READER).
        """
        held = await self._tables.current(table_id)
        with self._hub.subscribe(table_id, player) as subscription:
            if after_version > held.version:
                raise MalformedInput.field("after_version", f"the table is at version {held.version}")
            opening = await self._opening(held, player, after_version)
            sent = after_version
            for response in opening:
                sent = _version(response, sent)
                yield response
            if after_version:
                # Who resumes learns at once that the stream is open, and how much time is left now.
                yield heartbeat_for(held.table, sent, self._now())
            async with aclosing(self._follow(table_id, subscription, sent)) as following:
                async for response in following:
                    yield response

    async def _opening(self, held: HeldTable, player: PlayerId, after_version: int) -> Sequence[Response]:
        """Return the missed events if they are of the current hand, else a snapshot of the table as it is now."""
        if after_version == held.version:
            return ()
        if after_version and held.table is not None and in_progress(held.table):
            missed = await self._missed(held, player, after_version)
            if missed and missed[0].update.version == after_version + 1:
                return missed
        return (snapshot_for(held, player, self._now()),)

    async def _missed(self, held: HeldTable, player: PlayerId, after_version: int) -> Sequence[Response]:
        stored = await self._log.read_since_last(StreamId(held.table_id), HAND_STARTED)
        events = (decode(event.type, event.data) for event in stored)
        return [
            update_for(happened, viewer_seat(happened.table, player))
            for happened in replay(None, stored, events)
            if happened.stored.version > after_version
        ]

    async def _follow(self, table_id: TableId, subscription: Subscription, sent: int) -> AsyncGenerator[Response, None]:
        overflows = 0
        while True:
            known = sent if await subscription.wait(self._heartbeat_seconds) else await self._polled(table_id, sent)
            waiting = subscription.take()
            overflows = overflows + 1 if waiting is None else 0
            if overflows > _OVERFLOWS:
                raise Exhausted(Reason.SLOW_READER, "you read too slowly: watch again from the version you have")
            if waiting is None or _misses_some(waiting, sent, known):
                current = await self._tables.current(table_id)
                waiting = (snapshot_for(current, subscription.player, self._now()),)
            for response in waiting:
                if _version(response, sent) > sent:
                    sent = _version(response, sent)
                    yield response
            if subscription.draining:
                yield _reconnect(sent)
                return
            if not waiting:
                yield heartbeat_for((await self._tables.hold(table_id)).table, sent, self._now())

    async def _polled(self, table_id: TableId, sent: int) -> int:
        """Return the table's version by the log, where another replica may have appended; `sent` without an answer.

        What is new comes by way of the hub.
        """
        try:
            return (await self._tables.current(table_id)).version
        except LogUnavailable:
            return sent


def _misses_some(waiting: Sequence[Response], sent: int, known: int) -> bool:
    """Tell whether events between `sent` and what waits never came by: the table was dropped and loaded meanwhile."""
    following = (_version(response, sent) for response in waiting)
    first = next((version for version in following if version > sent), known + 1)
    return first > sent + 1


def _version(response: Response, otherwise: int) -> int:
    """Return the version a response brings its reader to."""
    match response.WhichOneof("message"):
        case "snapshot":
            return response.snapshot.version
        case "update":
            return response.update.version
        case _:
            return otherwise


def _reconnect(version: int) -> Response:
    reason = watch_pb2.ReconnectReason.RECONNECT_REASON_DRAINING
    return Response(reconnect=watch_pb2.Reconnect(version=version, reason=reason))
