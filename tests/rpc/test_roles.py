import inspect
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from google.protobuf.wrappers_pb2 import StringValue

from baohuang.rpc.auth import Role
from baohuang.rpc.errors import Reason
from baohuang.rpc.roles import require
from baohuang.rpc.server import RpcServer
from baohuang.rpc.status import read_details
from rpc.echo import dev_settings

PATH = "/test.Desk/"


class Desk:
    """A servicer with methods for some roles only; `entered` counts who got in."""

    def __init__(self) -> None:
        self.entered = 0

    @require(Role.OPERATOR)
    async def close(self, request: StringValue, _context: Any) -> StringValue:
        """Do as operators may."""
        self.entered += 1
        return request

    @require(Role.OPERATOR, Role.SERVICE)
    async def follow(self, request: StringValue, _context: Any) -> AsyncIterator[StringValue]:
        """Stream to operators and services."""
        self.entered += 1
        try:
            yield request
            yield request
        finally:
            self.entered -= 1


async def call(desk: Desk, method: str, role: str) -> int:
    """Call a method of a server with this desk and count the replies. Raises AioRpcError."""
    codec = (StringValue.FromString, StringValue.SerializeToString)
    methods = {
        "close": grpc.unary_unary_rpc_method_handler(desk.close, *codec),
        "follow": grpc.unary_stream_rpc_method_handler(desk.follow, *codec),
    }
    server = RpcServer(dev_settings(), "127.0.0.1:0")
    server.grpc.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("test.Desk", methods),))
    port = await server.start()
    metadata = (("baohuang-player", "judge"), ("baohuang-role", role))
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            if method == "close":
                await channel.unary_unary(PATH + method, None, None)(b"", metadata=metadata)
                return 1
            stream = channel.unary_stream(PATH + method, None, None)(b"", metadata=metadata)
            return len([reply async for reply in stream])
    finally:
        await server.drain()


@pytest.mark.parametrize(("method", "role", "replies"), [("close", "operator", 1), ("follow", "service", 2)])
async def test_a_required_role_is_let_in(method: str, role: str, replies: int) -> None:
    """Each of the roles that are named, for calls and for streams."""
    desk = Desk()
    assert await call(desk, method, role) == replies
    assert desk.entered == (1 if method == "close" else 0)


@pytest.mark.parametrize(
    ("method", "role", "roles"),
    [
        ("close", "player", "operator"),
        ("close", "service", "operator"),
        ("follow", "player", "operator, service"),
    ],
)
async def test_other_roles_are_denied(method: str, role: str, roles: str) -> None:
    """PERMISSION_DENIED, naming the roles that are let in; the method was not entered."""
    desk = Desk()
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call(desk, method, role)
    details = read_details(caught.value)
    assert details is not None
    assert (caught.value.code(), details.reason) == (grpc.StatusCode.PERMISSION_DENIED, Reason.PERMISSION_DENIED)
    assert details.metadata == {"roles": roles}
    assert desk.entered == 0


def test_a_method_stays_what_it_was() -> None:
    """Name, docstring and kind are kept: a generator is still told from a coroutine."""
    assert inspect.iscoroutinefunction(Desk.close)
    assert inspect.isasyncgenfunction(Desk.follow)
    assert (Desk.follow.__name__, Desk.close.__doc__) == ("follow", "Do as operators may.")
