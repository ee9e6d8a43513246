"""Connections to NATS are opened, lost and closed as a whole."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from nats.aio.client import Client

from baohuang.embedded.nats import EmbeddedNats
from baohuang.stream.connection import connect_to
from baohuang.stream.link import Link
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


async def connection(url: str) -> None:
    """Hold a connection for ever."""
    async with connect_to(url, "held")():
        await asyncio.Event().wait()


async def link(url: str) -> None:
    """Hold a link for ever."""
    async with Link(url, "held", {}):
        await asyncio.Event().wait()


@pytest.mark.parametrize("hold", [connection, link])
@pytest.mark.parametrize("times", [1, 2, 3])
async def test_one_that_is_cancelled_in_the_making_leaves_nothing_open(
    nats_url: str, monkeypatch: pytest.MonkeyPatch, hold: Callable[[str], Awaitable[None]], times: int
) -> None:
    """At whatever step, once or again while it closes: every socket that was opened is closed, and no task goes on."""
    opened: list[asyncio.StreamWriter] = []
    open_connection = asyncio.open_connection

    async def noted(*arguments: Any, **options: Any) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await open_connection(*arguments, **options)
        opened.append(writer)
        return reader, writer

    monkeypatch.setattr(asyncio, "open_connection", noted)
    before = asyncio.all_tasks()
    for steps in (*range(25), *range(25, 250, 9)):
        holding = asyncio.ensure_future(hold(nats_url))
        await cancelled_after(holding, steps, times)
        assert all(writer.is_closing() for writer in opened)
        assert asyncio.all_tasks() == before
    assert opened


async def cancelled_after(holding: "asyncio.Future[None]", steps: int, times: int) -> None:
    """Cancel after so many steps of the loop, and so many times one step after the other; wait for the end."""
    for _ in range(steps):
        await asyncio.sleep(0)
    for _ in range(times):
        holding.cancel()
        await asyncio.sleep(0)
    async with asyncio.timeout(20):
        while not holding.done():  # Python 3.11's `wait_for` swallows a cancellation at times.
            await asyncio.wait({holding}, timeout=0.5)
            holding.cancel()
    await asyncio.sleep(0)


async def test_a_server_that_is_away_is_told_at_once(nats_server: EmbeddedNats) -> None:
    """Connecting does not wait for it to come back, and does not show the password."""
    url = await nats_server.start()
    await nats_server.stop()
    with pytest.raises(StreamUnavailable) as refused:
        async with connect_to(url, "early")():
            pass
    assert url.split(":")[2].split("@")[0] not in str(refused.value)
