"""One client at one table, as cheap as a client can be: it reads versions and sends bytes made before."""

import asyncio
from collections.abc import Callable
from typing import Any, Final, Protocol

import grpc

from baohuang.gen.table.v1 import play_pb2, watch_pb2
from baohuang.gen.table.v1 import table_service_pb2 as pb

SERVICE: Final = "/baohuang.table.v1.TableService"
Seen = Callable[[int], None]
"""Called with the version of every update."""


class Seat(Protocol):
    """A client that watches a table and plays at it."""

    @staticmethod
    def wrap(request: bytes) -> bytes:
        """Return what is sent for a serialized ActRequest."""

    async def open(self, table_id: str, seen: Seen) -> None:
        """Watch the table; return when the stream is open."""

    def send(self, request: bytes) -> None:
        """Send a play, as `wrap` made it."""

    async def close(self) -> None:
        """Go away. Raises AioRpcError for a play that was refused, or a stream that broke."""


Connect = Callable[[grpc.aio.Channel, str], Seat]
"""Gives a client for a player, over a channel."""


class UnarySeat:
    """Plays by unary calls, beside a watch stream."""

    @staticmethod
    def wrap(request: bytes) -> bytes:
        """See `Seat.wrap`."""
        return request

    def __init__(self, channel: grpc.aio.Channel, player: str) -> None:
        self._metadata = (("baohuang-player", player),)
        self._act: Any = channel.unary_unary(f"{SERVICE}/Act", None, None)
        self._watch: Any = channel.unary_stream(f"{SERVICE}/WatchTable", None, None)
        self._calls: list[Any] = []
        self._stream: Any = None
        self._following: asyncio.Task[None] | None = None

    async def open(self, table_id: str, seen: Seen) -> None:
        """See `Seat.open`."""
        request = watch_pb2.WatchTableRequest(table_id=table_id).SerializeToString()
        self._stream = self._watch(request, metadata=self._metadata)
        await self._stream.read()
        self._following = asyncio.create_task(self._follow(seen))

    def send(self, request: bytes) -> None:
        """See `Seat.send`."""
        self._calls.append(self._act(request, metadata=self._metadata))

    async def close(self) -> None:
        """See `Seat.close`."""
        for call in self._calls:
            await call
        if self._following:
            if self._following.done():
                self._following.result()
            self._following.cancel()
        self._stream.cancel()

    async def _follow(self, seen: Seen) -> None:
        parse = watch_pb2.WatchTableResponse.FromString
        while True:
            seen(parse(await self._stream.read()).update.version)


class StreamSeat:
    """Plays and watches over one Play stream."""

    @staticmethod
    def wrap(request: bytes) -> bytes:
        """See `Seat.wrap`."""
        return pb.PlayRequest(act=pb.ActRequest.FromString(request)).SerializeToString()

    def __init__(self, channel: grpc.aio.Channel, player: str) -> None:
        play: Any = channel.stream_stream(f"{SERVICE}/Play", None, None)
        self._stream = play(metadata=(("baohuang-player", player),))
        self._sending: asyncio.Task[None] | None = None
        self._reading: asyncio.Task[None] | None = None
        self._refused: play_pb2.Refused | None = None

    async def open(self, table_id: str, seen: Seen) -> None:
        """See `Seat.open`."""
        request = pb.PlayRequest(watch=play_pb2.Watch(table_id=table_id))
        await self._stream.write(request.SerializeToString())
        await self._stream.read()
        self._reading = asyncio.create_task(self._read(seen))

    def send(self, request: bytes) -> None:
        """See `Seat.send`."""
        self._sending = asyncio.ensure_future(self._stream.write(request))

    async def close(self) -> None:
        """See `Seat.close`."""
        if self._sending:
            await self._sending
        if self._refused is not None:
            raise ValueError(f"a play was refused: {self._refused}")
        if self._reading:
            if self._reading.done():
                self._reading.result()
            self._reading.cancel()
        self._stream.cancel()

    async def _read(self, seen: Seen) -> None:
        parse = play_pb2.PlayResponse.FromString
        while True:
            message = parse(await self._stream.read())
            if message.HasField("table"):
                seen(message.table.message.update.version)
            elif message.HasField("refused"):
                self._refused = message.refused
