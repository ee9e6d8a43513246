"""Watchers who cost little, for tests that want many: they keep what they were sent as bytes, and read it later."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

import grpc

from baohuang.gen.table.v1 import watch_pb2

_PATH = "/baohuang.table.v1.TableService/WatchTable"
_SECONDS = 120.0


class Onlooker:
    """One stream of a table, read to its end or until it is left."""

    def __init__(self, channel: grpc.aio.Channel, player: str, table_id: str) -> None:
        self.player = player
        self.table_id = table_id
        self.raw: list[bytes] = []
        self._arrived = asyncio.Event()
        self._request = watch_pb2.WatchTableRequest(table_id=table_id).SerializeToString()
        self._channel = channel
        self._reading: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Open the stream, and wait for its first message."""
        self._reading = asyncio.create_task(self._read())
        await self.has(1)

    async def has(self, messages: int) -> None:
        """Wait until so many messages have come."""
        while len(self.raw) < messages:
            self._arrived.clear()
            await self._arrived.wait()

    async def leave(self) -> None:
        """Close the stream. Raises what it ended with, if it had ended before."""
        assert self._reading is not None
        if self._reading.done():
            self._reading.result()
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)

    def messages(self) -> list[watch_pb2.WatchTableResponse]:
        """Return all that came, in order."""
        return [watch_pb2.WatchTableResponse.FromString(raw) for raw in self.raw]

    async def _read(self) -> None:
        metadata = (("baohuang-player", self.player),)
        stream: Any = self._channel.unary_stream(_PATH, None, None)(self._request, metadata=metadata, timeout=_SECONDS)
        try:
            while isinstance(raw := await stream.read(), bytes):
                self.raw.append(raw)
                self._arrived.set()
        finally:
            stream.cancel()


async def channels(stack: AsyncExitStack, address: str, number: int) -> Sequence[grpc.aio.Channel]:
    """Return connections of their own to a server, closed with the stack."""
    options = (("grpc.use_local_subchannel_pool", 1),)
    opened = [grpc.aio.insecure_channel(address, options=options) for _ in range(number)]
    return [await stack.enter_async_context(channel) for channel in opened]
