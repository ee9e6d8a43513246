"""Calls in one caller's name, made again where that helps; and the connections they are made on."""

from collections.abc import AsyncIterator
from typing import Any, Final, TypeVar

import grpc

from baohuang.client.affinity import affinity
from baohuang.client.both_ways import BothWays
from baohuang.client.calling import calling
from baohuang.client.errors import NotKnownError, Refusal, error_of
from baohuang.client.patience import Patience, is_transient
from baohuang.client.reading import Stream
from baohuang.eventlog.port import RequestId
from baohuang.rpc.credentials import Credentials, Metadata
from baohuang.rpc.keepalive import keepalive
from baohuang.rpc.reason import Reason
from baohuang.tls.channel import open_channel
from baohuang.tls.files import Tls
from baohuang.tracing import carried

_Request = TypeVar("_Request")
_Response = TypeVar("_Response")
_CHANNEL: Final = (
    # Else all channels of a process to one address share a connection, and so end at one replica.
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2_000),
    # What the service allows on idle connections.
    *keepalive(10_000, 10_000),
)


def channel_to(address: str, tls: Tls | None = None) -> grpc.aio.Channel:
    """Return a connection of its own to the service at "host:port", to be closed in the end.

    Raises CertificateError when the files of `tls` are not sound.
    """
    return open_channel(address, tls, _CHANNEL)


class Calls:
    """Makes calls with a caller's credentials.

    Every call raises RefusedError and its kinds, UnreachableError, FaultError.
    """

    def __init__(self, credentials: Credentials, patience: Patience | None = None) -> None:
        self._credentials = credentials
        self.patience = patience or Patience()

    async def make(
        self,
        method: "grpc.aio.UnaryUnaryMultiCallable[_Request, _Response]",
        request: _Request,
        seconds: float | None = None,
    ) -> Any:
        """Make a call, again and again with the same request while that helps; an attempt may take so many seconds.

        Where the app has traces the call is a span of the current one, as long as all its attempts take.
        """
        with calling(request):
            return await self._made(method, request, seconds)

    async def _made(self, method: Any, request: _Request, seconds: float | None) -> Any:
        try:
            async for attempt in self.patience.attempt(is_transient):
                with attempt:
                    metadata = (*self._known_by(), *affinity(request), *carried.onward())
                    return await method(request, timeout=seconds or self.patience.call_seconds, metadata=metadata)
        except grpc.aio.AioRpcError as failed:
            raise error_of(failed, RequestId(getattr(request, "request_id", ""))) from failed

    async def pages(
        self, method: "grpc.aio.UnaryUnaryMultiCallable[_Request, _Response]", request: Any
    ) -> AsyncIterator[Any]:
        """Yield one page of a listing after the other (AIP-158)."""
        while True:
            page = await self.make(method, request)
            yield page
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    def open(self, method: Any, request: object) -> Stream:
        """Open a stream."""
        stream: Stream = method(request, metadata=(*self._known_by(), *affinity(request), *carried.onward()))
        return stream

    def open_both_ways(self, method: Any) -> BothWays:
        """Open a stream in both directions."""
        return BothWays(method(metadata=(*self._known_by(), *carried.onward())))

    def _known_by(self) -> Metadata:
        """Return who the caller says he is. Raises NotKnownError for what metadata cannot carry."""
        metadata = self._credentials.metadata()
        for key, value in metadata:
            if not (value.isascii() and value.isprintable()):
                message = f"{key} holds what metadata cannot carry"
                raise NotKnownError(Refusal(Reason.UNAUTHENTICATED, message, {"key": key}))
        return metadata
