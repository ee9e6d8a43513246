"""One client at one table, as cheap as a client can be: it reads versions and sends bytes made before."""

import asyncio
from collections.abc import Callable
from typing import Any, Final, Protocol

import grpc

from baohuang.gen.table.v1 import watch_pb2

SERVICE: Final = "/baohuang.table.v1.TableService"
Seen = Callable[[int], None]
"""Called with the version of every update."""


class Seat(Protocol):
    """A client that watches a table and plays at it."""

    async def open(self, table_id: str, seen: Seen) -> None:
        """Watch the table; return when the stream is open."""

    def send(self, request: bytes) -> None:
        """Send a serialized ActRequest."""

    async def close(self) -> None:
        """Go away. Raises AioRpcError for a play that was refused, or a stream that broke."""


Connect = Callable[[grpc.aio.Channel, str], Seat]
"""Gives a client for a player, over a channel."""


class UnarySeat:
    """Plays by unary calls, beside a watch stream."""

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
