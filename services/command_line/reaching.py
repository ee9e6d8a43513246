"""Whether anybody serves at an address, before something is asked of him: a call alone would be tried for long."""

import asyncio
from typing import Final

from baohuang.client.calls import channel_to
from baohuang.tls.files import Tls

_SECONDS: Final = 5.0


class NotReachedError(Exception):
    """Nobody serves at the address, which the text names: nothing was sent."""


async def reached(address: str, tls: Tls | None = None) -> None:
    """Connect to the service at "host:port", and no more. Raises NotReachedError, CertificateError."""
    async with channel_to(address, tls) as channel:
        try:
            async with asyncio.timeout(_SECONDS):
                await channel.channel_ready()
        except TimeoutError:
            raise NotReachedError(f"no service answers at {address!r}") from None
