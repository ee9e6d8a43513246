"""A connection to NATS that comes and goes, and for which nobody waits.

    away ──connected, subscribed──► there
      ▲                               │
      └───────────── lost ◄───────────┘   tried again for ever

What is published while it is away is dropped; what was published meanwhile by others was not heard. Each change is
logged once.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Final, Self

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg

from baohuang.stream.address import NatsAddress, address_of
from baohuang.stream.connection import NATS_FAILURES, close_wholly, why_away
from baohuang.stream.working import ended
from baohuang.tls.files import CertificateError

UNSENT: Final = 10_000
"""Messages that may wait to be sent; more, and the oldest are dropped."""
_AGAIN_SECONDS: Final = 0.25
_LOOK_SECONDS: Final = 0.5
_PING_SECONDS: Final = 5
_FAILURES: Final = (*NATS_FAILURES, CertificateError)
_log = structlog.get_logger("baohuang.stream")

Listener = Callable[[str, bytes], None]
"""Is told subject and payload of a message."""


class Link:
    """Connected, as far as NATS lets it, between entering and leaving it as an async context manager.

    `listeners` hear the subjects they stand under; never what this link itself published.
    """

    def __init__(self, nats: NatsAddress | str, name: str, listeners: Mapping[str, Listener]) -> None:
        """Take an address, or its URL. Raises CertificateError when its certificates are not sound."""
        self._address = address_of(nats)
        self._address.options()
        self._name = name
        self._listeners = listeners
        self._unsent: deque[tuple[str, bytes]] = deque(maxlen=UNSENT)
        self._waiting = asyncio.Event()
        self._there = asyncio.Event()
        self._told_away = False
        self._running: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._running = asyncio.create_task(self._run(), name="link to NATS")
        self._running.add_done_callback(_report)
        return self

    async def __aexit__(self, *_: object) -> None:
        running, self._running = self._running, None
        if running:
            await ended((running,))

    @property
    def there(self) -> bool:
        """Whether it is connected now."""
        return self._there.is_set()

    async def until_there(self) -> None:
        """Wait until it is connected."""
        await self._there.wait()

    def publish(self, subject: str, payload: bytes) -> None:
        """Send a message as soon as may be, or never: it does not wait, and does not fail."""
        if self._there.is_set():
            self._unsent.append((subject, payload))
            self._waiting.set()

    async def _run(self) -> None:
        # The client swallows a cancellation here and there, so the loop has an end of its own, and is cancelled again.
        while self._running is not None:
            client = self._address.client()
            try:
                await self._serve(client)
            except _FAILURES as error:
                self._note_away(why_away(error))
            finally:
                self._there.clear()
                self._unsent.clear()
                await close_wholly(client)
            await asyncio.sleep(_AGAIN_SECONDS)

    async def _serve(self, client: Client) -> None:
        """Connect once, and send and hear until the connection is lost."""
        lost = asyncio.Event()
        await self._connect(client, lost)
        for subject, listener in self._listeners.items():
            await client.subscribe(subject, cb=_heard_by(listener))
        for _ in range(2):
            # Its ping overtakes the subscriptions, which wait in a buffer: only a second one comes after them.
            await client.flush()
        self._note_there()
        sending = asyncio.create_task(self._send(client))
        try:
            while not client.is_closed and not sending.done():
                await _set_within(lost, _LOOK_SECONDS)
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
        if not sending.cancelled():
            sending.result()
        self._note_away("connection lost")

    async def _connect(self, client: Client, lost: asyncio.Event) -> None:
        """Connect; the client's own ways of trying again are off, since they end for good at some failures."""

        async def closed() -> None:
            lost.set()

        async def ignored(_: Exception) -> None:
            """Be told of what is seen by its consequences."""

        await client.connect(
            self._address.url,
            name=self._name,
            no_echo=True,
            allow_reconnect=False,
            max_reconnect_attempts=1,
            reconnect_time_wait=0,
            ping_interval=_PING_SECONDS,
            closed_cb=closed,
            error_cb=ignored,
            **self._address.options(),
        )

    async def _send(self, client: Client) -> None:
        while True:
            await self._waiting.wait()
            self._waiting.clear()
            while self._unsent:
                await client.publish(*self._unsent.popleft())

    def _note_there(self) -> None:
        self._there.set()
        self._told_away = False
        _log.info("NATS is there")

    def _note_away(self, why: str) -> None:
        if not self._told_away:
            self._told_away = True
            _log.warning("NATS is away", why=why)


def _heard_by(listener: Listener) -> Callable[[Msg], Awaitable[None]]:
    async def hear(message: Msg) -> None:
        listener(message.subject, message.data)

    return hear


async def _set_within(event: asyncio.Event, seconds: float) -> None:
    """Wait for the event, for so long at most."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


def _report(task: "asyncio.Task[None]") -> None:
    """Log what no part of the link expects: a bug, which leaves everything to the polling of the log."""
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.error("link to NATS failed", exc_info=error)
