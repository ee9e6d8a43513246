"""A connection to NATS that lasts until it is lost: whoever needs it again connects again.

The client's own ways of reconnecting are off. They end for good at some failures, and what was asked before a restart
of the server is neither answered nor refused after it; a new connection knows of neither.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Final

from nats.aio.client import Client
from nats.errors import Error as NatsError

from baohuang.stream.port import StreamUnavailable

NATS_FAILURES: Final = (NatsError, OSError, EOFError, ValueError)
"""What connecting and sending may raise; OSError includes TimeoutError, ValueError is an answer that is not of NATS."""
_CONNECT_SECONDS: Final = 2
_PING_SECONDS: Final = 2
_CLOSE_SECONDS: Final = 5.0

Connect = Callable[[], AbstractAsyncContextManager[Client]]
"""Opens a connection of its own for whoever enters it; raises StreamUnavailable."""


def connect_to(url: str, name: str) -> Connect:
    """Return what connects to a NATS, under a name that shows in the server's lists."""
    return partial(_connected, url, name)


@asynccontextmanager
async def _connected(url: str, name: str) -> AsyncIterator[Client]:
    client = Client()
    try:
        await _connect(client, url, name)
        yield client
    finally:
        await _close(client)


async def _close(client: Client) -> None:
    """Close a connection to its end, even when that is cancelled meanwhile: half closed, it would stay open."""
    closing = asyncio.create_task(client.close())
    cancelled: asyncio.CancelledError | None = None
    while not closing.done():
        try:
            await asyncio.wait({closing}, timeout=_CLOSE_SECONDS)
        except asyncio.CancelledError as error:
            cancelled = error
        else:
            closing.cancel()
    # What else goes wrong in closing is nobody's concern any more.
    _ = closing.cancelled() or closing.exception()
    if cancelled is not None:
        raise cancelled


async def _connect(client: Client, url: str, name: str) -> None:
    async def ignored(_: Exception) -> None:
        """Be told of what is seen by its consequences."""

    try:
        await client.connect(
            url,
            name=name,
            allow_reconnect=False,
            max_reconnect_attempts=1,
            reconnect_time_wait=0,
            connect_timeout=_CONNECT_SECONDS,
            ping_interval=_PING_SECONDS,
            max_outstanding_pings=2,
            error_cb=ignored,
        )
    except NATS_FAILURES as error:
        raise StreamUnavailable(f"no connection: {type(error).__name__}") from error
