"""A side that is gone without a word is found by pings, though something between still takes bytes in."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc

from baohuang.client.calls import _CHANNEL
from baohuang.rpc.keepalive import keepalive
from baohuang.rpc.server import _SERVER_PING_MS, _SERVER_PING_TIMEOUT_MS, server_options
from rpc.echo import dev_settings
from rpc.wire import wire_to

_QUICKLY = (("grpc.keepalive_permit_without_calls", 1), *keepalive(500, 500))
_LENIENT = ("grpc.http2.min_ping_interval_without_data_ms", 100)
_SECONDS = 20.0
"""Many times what it takes; without the pings' own time it takes a minute."""


async def test_both_sides_find_that_the_other_is_gone() -> None:
    """The server ends the stream of a client that does not answer, the client fails its own."""
    ended = asyncio.Event()

    async def talk(_request: bytes, _context: Any) -> AsyncIterator[bytes]:
        try:
            yield b"first"
            await asyncio.Event().wait()
        finally:
            ended.set()

    server = grpc.aio.server(options=(*_QUICKLY, _LENIENT))
    methods = {"Talk": grpc.unary_stream_rpc_method_handler(talk)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("Any", methods),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    behind = f"127.0.0.1:{port}"
    async with wire_to(behind) as (wire, address), grpc.aio.insecure_channel(address, options=_QUICKLY) as channel:
        call: Any = channel.unary_stream("/Any/Talk", None, None)(b"")
        assert await call.read() == b"first"
        wire.fall_silent()
        async with asyncio.timeout(_SECONDS):
            assert await call.code() is grpc.StatusCode.UNAVAILABLE
            await ended.wait()
    await server.stop(None)


def test_servers_and_clients_of_ours_do_so() -> None:
    """With the times that docs/protocol.md has."""
    assert set(keepalive(_SERVER_PING_MS, _SERVER_PING_TIMEOUT_MS)) <= set(server_options(dev_settings()))
    assert set(keepalive(10_000, 10_000)) <= set(_CHANNEL)
