"""Services of points and ratings in this process, each a real gRPC server on loopback, and callers of them."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message

from baohuang.gen.rating.v1 import rating_service_pb2_grpc
from baohuang.gen.scoring.v1 import scoring_service_pb2_grpc
from baohuang.rpc.server import RpcServer
from baohuang.rpc.settings import ServerSettings
from tables.clients import Refused, refusal

SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who calls; a request's type names its method."""

    channel: grpc.aio.Channel
    player: str = "anybody"
    role: str = "player"

    async def call(self, request: Message) -> Any:
        """Make the call and give its reply. Raises AioRpcError."""
        name = type(request).__name__.removesuffix("Request")
        stubs = (
            scoring_service_pb2_grpc.ScoringServiceStub(self.channel),
            rating_service_pb2_grpc.RatingServiceStub(self.channel),
        )
        method = next(getattr(stub, name) for stub in stubs if hasattr(stub, name))
        who = (("baohuang-player", self.player), ("baohuang-role", self.role))
        return await method(request, metadata=who, timeout=SECONDS)

    async def refused(self, request: Message) -> Refused:
        """Make a call that has to be refused, and tell how it was."""
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await self.call(request)
        return refusal(caught.value)


@asynccontextmanager
async def channel_to(
    register: Callable[[RpcServer], None], *services: str, **settings: float
) -> AsyncIterator[grpc.aio.Channel]:
    """Serve what `register` puts on a server until the end of the block, and give a channel to it."""
    wanted = {"insecure_dev": True, "drain_grace_seconds": 0.5, "refuse_seconds": 0.0, **settings}
    server = RpcServer(ServerSettings.model_validate(wanted), "127.0.0.1:0")
    register(server)
    port = await server.start(*services)
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield channel
    finally:
        await server.drain()
