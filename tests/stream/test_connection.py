"""Connections to NATS are opened, lost and closed as a whole."""

import asyncio

import pytest
from nats.aio.client import Client

from baohuang.embedded.nats import EmbeddedNats
from baohuang.stream.connection import connect_to
from baohuang.stream.port import StreamUnavailable


async def test_a_connection_is_closed_however_often_that_is_cancelled(nats_url: str) -> None:
    """Whoever holds it is cancelled, and again at every step of the closing: it ends cancelled, with nothing open."""
    opened: asyncio.Queue[Client] = asyncio.Queue()

    async def hold() -> None:
        async with connect_to(nats_url, "held")() as client:
            await opened.put(client)
            await asyncio.Event().wait()

    holding = asyncio.create_task(hold())
    async with asyncio.timeout(10):
        client = await opened.get()
        while not holding.done():
            holding.cancel()
            await asyncio.sleep(0)
    assert holding.cancelled()
    assert client.is_closed
    assert client._transport is not None
    assert client._transport._io_writer.is_closing()  # type: ignore[attr-defined]


async def test_a_server_that_is_away_is_told_at_once(nats_server: EmbeddedNats) -> None:
    """Connecting does not wait for it to come back, and does not show the password."""
    url = await nats_server.start()
    await nats_server.stop()
    with pytest.raises(StreamUnavailable) as refused:
        async with connect_to(url, "early")():
            pass
    assert url.split(":")[2].split("@")[0] not in str(refused.value)
