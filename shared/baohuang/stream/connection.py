"""A connection to NATS that lasts until it is lost: whoever needs it again connects again.

The client's own ways of reconnecting are off. They end for good at some failures, and what was asked before a restart
of the server is neither answered nor refused after it; a new connection knows of neither.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Final

from nats.aio.client import Client
from nats.errors import Error as NatsError

from baohuang.stream.address import NatsAddress, address_of
from baohuang.stream.port import StreamUnavailable
from baohuang.tls.files import CertificateError

NATS_FAILURES: Final = (NatsError, OSError, EOFError, ValueError)
"""What connecting and sending may raise; OSError includes TimeoutError, ValueError is an answer that is not of NATS."""
_CONNECT_SECONDS: Final = 2
_PING_SECONDS: Final = 2
_CLOSE_SECONDS: Final = 1.0

Connect = Callable[[], AbstractAsyncContextManager[Client]]
"""Opens a connection of its own for whoever enters it; raises StreamUnavailable."""


def connect_to(nats: NatsAddress | str, name: str) -> Connect:
    """Return what connects to a NATS, by its address or its URL, under a name that shows in the server's lists.

    Certificates are read again for each connection. Raises CertificateError when they are not sound to begin with.
    """
    address = address_of(nats)
    address.options()
    return partial(_connected, address, name)


def why_away(error: Exception) -> str:
    """Say why there is no connection, without the URL and its password."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the server's certificate: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return f"TLS: {error.reason}"
    if isinstance(error, CertificateError):
        return str(error)
    if type(error) is NatsError:  # what the server said, an authorization violation say
        return str(error)
    return type(error).__name__


async def close_wholly(client: Client) -> None:
    """Close a connection to its end, even when that is cancelled meanwhile: half closed, it would stay open.

    Over TLS the end may be the other side's, which keeps silent: that is not waited for.
    """
    now = asyncio.get_running_loop().time
    closing, give_up_at = asyncio.create_task(client.close()), now() + _CLOSE_SECONDS
    cancelled: asyncio.CancelledError | None = None
    while not closing.done():
        try:
            await asyncio.wait({closing}, timeout=max(give_up_at - now(), 0.0))
        except asyncio.CancelledError as error:
            cancelled = error
        if now() >= give_up_at:
            closing.cancel()
            give_up_at = now() + _CLOSE_SECONDS
    # What else goes wrong in closing is nobody's concern any more.
    _ = closing.cancelled() or closing.exception()
    if cancelled is not None:
        raise cancelled


@asynccontextmanager
async def _connected(address: NatsAddress, name: str) -> AsyncIterator[Client]:
    client = address.client()
    try:
        await _connect(client, address, name)
        yield client
    finally:
        await close_wholly(client)


async def _connect(client: Client, address: NatsAddress, name: str) -> None:
    async def ignored(_: Exception) -> None:
        """Be told of what is seen by its consequences."""

    try:
        await client.connect(
            address.url,
            name=name,
            allow_reconnect=False,
            max_reconnect_attempts=1,
            reconnect_time_wait=0,
            connect_timeout=_CONNECT_SECONDS,
            ping_interval=_PING_SECONDS,
            max_outstanding_pings=2,
            error_cb=ignored,
            **address.options(),
        )
    except (*NATS_FAILURES, CertificateError) as error:
        raise StreamUnavailable(f"no connection to NATS at {address.where}: {why_away(error)}") from error
