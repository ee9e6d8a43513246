"""Streams of tables that note how they ended, and how they may end while replicas are replaced."""

import asyncio
import time
from collections import Counter
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import grpc

from baohuang.client import Patience
from baohuang.client.errors import reason_of
from baohuang.client.reading import END
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.gen.table.v1 import watch_pb2
from baohuang.rpc.reason import Reason

_END_SECONDS: Final = 15.0
"""Within which the end of a stream has to follow its `Reconnect`: nobody reads on for longer than twenty seconds."""


class Ending(NamedTuple):
    """How a stream ended. It was held if anything had come over it before."""

    was_held: bool
    how: str


SENT_AWAY: Final = "Reconnect (DRAINING) with the version it was at, then OK"
UNWANTED: Final = "its reader wanted no more"
REFUSED: Final = "UNAVAILABLE, DRAINING"
UNHEARD: Final = "UNAVAILABLE"
NOT_HANDED_OVER: Final = "CANCELLED"
PROMISED: Final = frozenset(
    [Ending(True, how) for how in (SENT_AWAY, UNWANTED)]
    + [Ending(False, how) for how in (SENT_AWAY, UNWANTED, REFUSED, UNHEARD, NOT_HANDED_OVER)]
)
"""What docs/protocol.md has of a server that goes away, and nothing else."""


class NotedStream:
    """A stream of a table, or one to play over; `ending` is None while it goes on."""

    def __init__(self, stream: Any, after: watch_pb2.WatchTableRequest | None = None) -> None:
        self.ending: Ending | None = None
        self._stream = stream
        self._versions = {} if after is None else {after.table_id: after.after_version}
        self._brought_anything = False

    async def read(self) -> object:
        """Return the next message."""
        since = time.monotonic()
        try:
            message = await self._stream.read()
        except grpc.aio.AioRpcError as failed:
            self._note(_failure(failed))
            raise
        except asyncio.CancelledError:
            if time.monotonic() - since >= Patience().silence_seconds:
                self._note("silence")
            raise
        await self._take(message)
        return message

    async def write(self, message: pb.PlayRequest) -> None:
        """Send a message."""
        if message.HasField("watch"):
            self._versions[message.watch.table_id] = message.watch.after_version
        await self._stream.write(message)

    def cancel(self) -> object:
        """Want no more of it."""
        self._note(UNWANTED)
        return self._stream.cancel()

    def _note(self, how: str) -> None:
        if self.ending is None:
            self.ending = Ending(self._brought_anything, how)

    async def _take(self, message: Any) -> None:
        if message is END:
            self._note("OK without a word")
        elif isinstance(message, watch_pb2.WatchTableResponse):
            (table_id,) = self._versions
            await self._take_of(table_id, message)
        elif message.HasField("reconnect"):
            told = {one.table_id: one.version for one in message.reconnect.tables}
            await self._sent_away(message.reconnect.reason, told)
        elif message.HasField("table"):
            await self._take_of(message.table.table_id, message.table.message)
        self._brought_anything = True

    async def _take_of(self, table_id: str, message: watch_pb2.WatchTableResponse) -> None:
        kind = message.WhichOneof("message")
        if kind in {"snapshot", "update", "heartbeat"}:
            self._versions[table_id] = getattr(message, kind).version
        elif kind == "reconnect":
            await self._sent_away(message.reconnect.reason, {table_id: message.reconnect.version})
        elif kind == "taken_over":
            self._note("taken over")

    async def _sent_away(self, reason: "watch_pb2.ReconnectReason.ValueType", told: dict[str, int]) -> None:
        """Note what it was told, held against what came before it and behind it."""
        known = {table_id: self._versions.get(table_id, 0) for table_id in told}
        behind = await self._behind()
        if reason != watch_pb2.RECONNECT_REASON_DRAINING or told != known:
            self._note(f"{watch_pb2.ReconnectReason.Name(reason)} with {told} at {known}, then {behind}")
        elif behind == "OK":
            self._note(SENT_AWAY)
        else:
            self._note(f"Reconnect, then {behind}")

    async def _behind(self) -> str:
        """Return what comes behind the last message."""
        try:
            async with asyncio.timeout(_END_SECONDS):
                message = await self._stream.read()
        except TimeoutError:
            return "nothing"
        except grpc.aio.AioRpcError as failed:
            return _failure(failed)
        return "OK" if message is END else f"another message: {message}"


def _failure(failed: grpc.aio.AioRpcError) -> str:
    """Return in short with what status a stream ended."""
    code, reason = failed.code(), reason_of(failed)
    if (code, reason) == (grpc.StatusCode.UNAVAILABLE, Reason.DRAINING):
        return REFUSED
    if reason or code not in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED}:
        return f"{code.name}, {reason or failed.details()}"
    return code.name


def counted(streams: Iterable[NotedStream]) -> str:
    """Return how many streams ended how, to be read."""
    ended = Counter(stream.ending for stream in streams)
    return "\n".join(f"{number:6} {_told(ending)}" for ending, number in ended.most_common())


def _told(ending: Ending | None) -> str:
    if ending is None:
        return "went on"
    return f"{'held' if ending.was_held else 'new'}: {ending.how}"


def check_endings(streams: Iterable[NotedStream]) -> None:
    """Check that every stream has ended, and in one of the ways that are promised."""
    streams = list(streams)
    assert {stream.ending for stream in streams} <= PROMISED, counted(streams)
