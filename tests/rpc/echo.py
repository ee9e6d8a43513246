"""A service of four methods, one of each kind, that do what their request says; and a server and client for it."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc
from google.protobuf.wrappers_pb2 import StringValue

from baohuang.rpc.server import RpcServer
from baohuang.rpc.settings import ServerSettings

SERVICE = "test.Echo"
ALICE = (("baohuang-player", "alice"),)

Act = Callable[[str, Any], Any]


def handlers(act: Act) -> Any:
    """Give the four methods; `act(text, context)` is awaited for each request and gives the reply's text."""

    async def unary(request: StringValue, context: Any) -> StringValue:
        return StringValue(value=await act(request.value, context))

    async def downstream(request: StringValue, context: Any) -> AsyncIterator[StringValue]:
        yield StringValue(value="first")
        yield StringValue(value=await act(request.value, context))

    async def upstream(requests: AsyncIterator[StringValue], context: Any) -> StringValue:
        return StringValue(value="".join([await act(request.value, context) async for request in requests]))

    async def both(requests: AsyncIterator[StringValue], context: Any) -> None:
        async for request in requests:
            await context.write(StringValue(value=await act(request.value, context)))

    codec = (StringValue.FromString, StringValue.SerializeToString)
    methods: dict[str, Any] = {
        "Unary": grpc.unary_unary_rpc_method_handler(unary, *codec),
        "Downstream": grpc.unary_stream_rpc_method_handler(downstream, *codec),
        "Upstream": grpc.stream_unary_rpc_method_handler(upstream, *codec),
        "Both": grpc.stream_stream_rpc_method_handler(both, *codec),
    }
    return grpc.method_handlers_generic_handler(SERVICE, methods)


class Client:
    """Calls the four methods with raw bytes or text; each gives the list of replies' texts."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self.channel = channel

    async def call(self, method: str, payload: bytes | str, metadata: Any = ALICE) -> list[str]:
        """Call one method with one request. Raises AioRpcError."""
        raw = payload if isinstance(payload, bytes) else StringValue(value=payload).SerializeToString()
        open_call = self.start(method, raw, metadata)
        if method in ("Unary", "Upstream"):
            return [StringValue.FromString(await open_call).value]
        return [StringValue.FromString(reply).value async for reply in open_call]

    def start(self, method: str, raw: bytes, metadata: Any = ALICE) -> Any:
        """Start a call and give it."""

        async def one() -> AsyncIterator[bytes]:
            yield raw

        path = f"/{SERVICE}/{method}"
        match method:
            case "Unary":
                return self.channel.unary_unary(path, None, None)(raw, metadata=metadata)
            case "Downstream":
                return self.channel.unary_stream(path, None, None)(raw, metadata=metadata)
            case "Upstream":
                return self.channel.stream_unary(path, None, None)(one(), metadata=metadata)
            case _:
                return self.channel.stream_stream(path, None, None)(one(), metadata=metadata)


METHODS = ("Unary", "Downstream", "Upstream", "Both")


def dev_settings(**changes: Any) -> ServerSettings:
    """Give settings for a test's server: development identities, a short grace period."""
    return ServerSettings(**{"insecure_dev": True, "drain_grace_seconds": 2.0} | changes)


@asynccontextmanager
async def serving(
    act: Act, settings: ServerSettings | None = None, options: Any = ()
) -> AsyncIterator[tuple[RpcServer, Client]]:
    """Run the service on a loopback port, with a client of it."""
    server = RpcServer(settings or dev_settings(), "127.0.0.1:0")
    server.grpc.add_generic_rpc_handlers((handlers(act),))
    port = await server.start(SERVICE)
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=options) as channel:
        yield server, Client(channel)
    await server.drain()
