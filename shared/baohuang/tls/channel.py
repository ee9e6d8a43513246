"""A gRPC client's channel over TLS, opened again when its certificates are renewed.

grpc keeps the credentials that a channel was made with, and uses them whenever it connects again: a channel that lives
for months would one day show a certificate that has expired. So calls are made on the newest of several channels; the
one before is closed once its calls have ended.
"""

import asyncio
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Final, Self

import grpc

from baohuang.tls.files import Pem, Tls
from baohuang.tls.renewal import LOOK_SECONDS, Renewed

_RETIRED_SECONDS: Final = 600.0
"""How long calls on a channel from before a renewal may go on: longer than any stream lasts."""
Options = Sequence[tuple[str, int] | tuple[str, str]]


def open_channel(address: str, tls: Tls | None, options: Options) -> grpc.aio.Channel:
    """Return a connection to the server at "host:port", over TLS if it is said how. Raises CertificateError."""
    if tls is None:
        return grpc.aio.insecure_channel(address, options=options)
    return RenewedChannel(address, tls, options)


class RenewedChannel(grpc.aio.Channel):
    """Looks like one channel. A method of it calls on the channel that is the newest at the time of the call."""

    def __init__(self, address: str, tls: Tls, options: Options, look_seconds: float = LOOK_SECONDS) -> None:
        """Open the first channel. Raises CertificateError."""
        self._address: Final = address
        self._options: Final = options
        self._renewed: Final = Renewed(tls, look_seconds)
        self._shown = self._renewed.now()
        self._newest = self._opened(self._shown)
        self._retiring: dict[grpc.aio.Channel, asyncio.Task[None]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()

    def newest(self) -> grpc.aio.Channel:
        """Return the channel to call on now."""
        pem = self._renewed.now()
        if pem is not self._shown:
            retired, self._newest, self._shown = self._newest, self._opened(pem), pem
            self._retiring[retired] = asyncio.create_task(self._retire(retired))
        return self._newest

    async def close(self, grace: float | None = None) -> None:
        """Close all of them; calls under way have `grace` seconds, None cancels them."""
        retiring = dict(self._retiring)
        for closing in retiring.values():
            closing.cancel()
        await asyncio.gather(*retiring.values(), return_exceptions=True)
        await asyncio.gather(*(channel.close(grace) for channel in (*retiring, self._newest)))

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:  # noqa: FBT001, FBT002 - grpc's own
        """Return the state of the newest."""
        return self.newest().get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """Wait until the state of the newest is another."""
        await self.newest().wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        """Wait until the newest is connected."""
        await self.newest().channel_ready()

    def unary_unary(self, *method: Any, **codec: Any) -> Any:
        """Return what makes calls of a method."""
        return _Method(self, "unary_unary", method, codec)

    def unary_stream(self, *method: Any, **codec: Any) -> Any:
        """Return what makes calls of a method."""
        return _Method(self, "unary_stream", method, codec)

    def stream_unary(self, *method: Any, **codec: Any) -> Any:
        """Return what makes calls of a method."""
        return _Method(self, "stream_unary", method, codec)

    def stream_stream(self, *method: Any, **codec: Any) -> Any:
        """Return what makes calls of a method."""
        return _Method(self, "stream_stream", method, codec)

    async def _retire(self, channel: grpc.aio.Channel) -> None:
        await channel.close(_RETIRED_SECONDS)
        del self._retiring[channel]

    def _opened(self, pem: Pem) -> grpc.aio.Channel:
        credentials = grpc.ssl_channel_credentials(pem.authorities, pem.key, pem.certificate)
        return grpc.aio.secure_channel(self._address, credentials, options=self._options)


class _Method:
    """Makes calls of one method, each on the newest channel."""

    def __init__(self, channel: RenewedChannel, kind: str, method: tuple[Any, ...], codec: dict[str, Any]) -> None:
        self._channel: Final = channel
        self._kind: Final = kind
        self._method: Final = method
        self._codec: Final = codec
        self._of: grpc.aio.Channel | None = None
        self._call: Any = None

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        newest = self._channel.newest()
        if newest is not self._of:
            self._of, self._call = newest, getattr(newest, self._kind)(*self._method, **self._codec)
        return self._call(*arguments, **options)
