"""The history service in this process, a real gRPC server on loopback over PostgreSQL, and callers of it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message

from baohuang.gen.history.v1 import history_service_pb2 as pb
from baohuang.gen.history.v1 import history_service_pb2_grpc
from baohuang.rpc.server import RpcServer
from table_service.history.settings import HistorySettings
from table_service.history.wiring import SERVICE, wired
from tables.clients import SECONDS, Refused, refusal

NOWHERE = "127.0.0.1:1"


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who calls; a request's type names its method."""

    channel: grpc.aio.Channel
    address: str
    player: str = "spectator"
    role: str = "player"

    def named(self, player: str, role: str = "player") -> "Caller":
        """Return another caller of the same service."""
        return replace(self, player=player, role=role)

    @property
    def operator(self) -> "Caller":
        """An operator of the same service."""
        return self.named("olga", "operator")

    async def call(self, request: Message) -> Any:
        """Make the call and give its reply. Raises AioRpcError."""
        return await self._start(request)

    async def stream(self, request: pb.StreamEventsRequest) -> list[pb.RecordedEvent]:
        """Give all that the stream has. Raises AioRpcError."""
        return [response.event async for response in self._start(request)]

    async def refused(self, request: Message) -> Refused:
        """Make a call that has to be refused, and tell how it was."""
        making = self.stream if isinstance(request, pb.StreamEventsRequest) else self.call
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await making(request)  # type: ignore[arg-type] # each takes its requests
        return refusal(caught.value)

    def _start(self, request: Message) -> Any:
        method = getattr(
            history_service_pb2_grpc.HistoryServiceStub(self.channel), type(request).__name__.removesuffix("Request")
        )
        who = (("baohuang-player", self.player), ("baohuang-role", self.role))
        return method(request, metadata=who, timeout=SECONDS)


@asynccontextmanager
async def history(dsn: str, table_target: str = NOWHERE, **settings: float) -> AsyncIterator[Caller]:
    """Serve history alone until the end of the block, and give a spectator who calls it."""
    wanted = {"insecure_dev": True, "drain_grace_seconds": 0.5, "refuse_seconds": 0.0, **settings}
    server = RpcServer(
        made := HistorySettings.model_validate({**wanted, "postgres_dsn": dsn, "table_target": table_target}),
        "127.0.0.1:0",
    )
    async with wired(server, made):
        port = await server.start(SERVICE)
        try:
            address = f"127.0.0.1:{port}"
            async with grpc.aio.insecure_channel(address) as channel:
                yield Caller(channel, address)
        finally:
            await server.drain()
