"""Messages of one durable consumer of JetStream, pulled.

The server holds a request for a batch until it expires, and fills it as messages come; a new one is sent when it is
used up or has expired. Every wait here has an end: a request that the server forgot, having been restarted, costs one
expiry and no more. What arrived and nobody received is given back at the end, for another replica to have at once.
"""

import asyncio
import contextlib
import json
from collections.abc import Sequence
from typing import Final, Self

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from baohuang.stream.jetstream import answers
from baohuang.stream.port import StreamMissing, StreamUnavailable

_STATUS: Final = "Status"
_DESCRIPTION: Final = "Description"
_NO_RESPONDERS: Final = "503"
_CONFLICT: Final = "409"
_HEARTBEAT: Final = "100"
_DELETED: Final = "consumer deleted"
_MARGIN_SECONDS: Final = 0.1
"""By how much the server's answer that a request has expired is waited for."""
_LEAVING_SECONDS: Final = 0.5
"""Within what `working.ended` gives a worker."""


class Pull:
    """Pulls between entering and leaving it as an async context manager. All of it raises StreamUnavailable."""

    def __init__(self, client: Client, stream: str, consumer: str, batch: int, expires_seconds: float) -> None:
        """Ask for `batch` messages at once, in requests that last so long."""
        self._client: Final = client
        self._next: Final = f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{consumer}"
        self._inbox: Final = client.new_inbox()
        self._batch: Final = batch
        self._expires_seconds: Final = expires_seconds
        self._arrived: Final[asyncio.Queue[Msg]] = asyncio.Queue()
        self._wanted = 0
        self._expires_at = 0.0
        self._subscribed: Subscription | None = None

    async def __aenter__(self) -> Self:
        with answers():
            self._subscribed = await self._client.subscribe(self._inbox, cb=self._arrived.put)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._subscribed is not None:
            with contextlib.suppress(StreamUnavailable, StreamMissing), answers():
                await self._give_back(self._subscribed)

    async def _give_back(self, subscribed: Subscription) -> None:
        """Ask for no more, wait for what is under way, and have JetStream deliver to somebody else what is here."""
        async with asyncio.timeout(_LEAVING_SECONDS):
            await subscribed.drain()  # type: ignore[no-untyped-call] # left out there
            while not self._arrived.empty():
                message = self._arrived.get_nowait()
                if _STATUS not in (message.headers or {}):
                    await message.nak()
            await self._client.flush()

    async def receive(self) -> Sequence[Msg]:
        """Return what has arrived, a batch at most, waiting for one if there is none; empty when none came in time.

        Raises StreamMissing if the consumer is gone.
        """
        if self._arrived.empty():
            await self._ask_if_due()
            first = await self._next_arrival()
            if first is None or self._is_status(first):
                return ()
            received = [first]
        else:
            received = []
        while len(received) < self._batch and not self._arrived.empty():
            message = self._arrived.get_nowait()
            if not self._is_status(message):
                received.append(message)
        self._wanted -= len(received)
        return received

    async def _ask_if_due(self) -> None:
        now = asyncio.get_running_loop().time()
        if self._wanted > 0 and now < self._expires_at:
            return
        request = {"batch": self._batch, "expires": int(self._expires_seconds * 1e9)}
        with answers():
            await self._client.publish(self._next, json.dumps(request).encode(), reply=self._inbox)
        self._wanted = self._batch
        self._expires_at = now + self._expires_seconds + _MARGIN_SECONDS

    async def _next_arrival(self) -> Msg | None:
        try:
            async with asyncio.timeout_at(self._expires_at):
                return await self._arrived.get()
        except TimeoutError:
            self._wanted = 0
            return None

    def _is_status(self, message: Msg) -> bool:
        """Tell whether a message is word of the request itself, and draw the consequences. Raises StreamMissing."""
        headers = message.headers or {}
        status = headers.get(_STATUS)
        if status is None:
            return False
        if status != _HEARTBEAT:
            self._wanted = 0
        told = headers.get(_DESCRIPTION, "")
        if status == _NO_RESPONDERS or (status == _CONFLICT and told.lower() == _DELETED):
            raise StreamMissing(told or "no responders")
        return True
