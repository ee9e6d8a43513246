"""A client's connection is its own."""

import os

import grpc

from baohuang.client.calls import channel_to
from up.connections import connections_of


async def test_each_channel_is_a_connection_of_its_own() -> None:
    """Eight clients in one process make eight connections to one address: they spread over the replicas behind it."""
    server = grpc.aio.server()
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    channels = [channel_to(f"127.0.0.1:{port}") for _ in range(8)]
    try:
        for channel in channels:
            await channel.channel_ready()
        assert connections_of([os.getpid()], port).total() == len(channels)
    finally:
        for channel in channels:
            await channel.close(None)
        await server.stop(None)
