"""ReverseRuling for who serves history alone: it is the table service's to do, in the caller's own name."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import grpc

from baohuang.gen.history.v1 import history_service_pb2 as pb
from baohuang.gen.history.v1 import history_service_pb2_grpc
from baohuang.rpc.auth import AUTHORIZATION_KEY, PLAYER_KEY, ROLE_KEY
from baohuang.rpc.errors import Reason, Unavailable
from baohuang.tls.channel import open_channel
from baohuang.tls.files import Tls
from table_service.reversing_servicer import Context, Reverse

_CREDENTIALS: Final = (AUTHORIZATION_KEY, PLAYER_KEY, ROLE_KEY)
_DETAILS_KEY: Final = "grpc-status-details-bin"
_SECONDS: Final = 10.0
"""How long it may take when the caller sets no deadline."""
_NO_ANSWER: Final = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED)


@asynccontextmanager
async def forwarding(target: str, tls: Tls | None = None) -> AsyncIterator[Reverse]:
    """Give what sends a ReverseRuling on to the service at "host:port", and its answer or refusal back as it came.

    Raises CertificateError.
    """
    async with open_channel(target, tls, ()) as channel:
        stub = history_service_pb2_grpc.HistoryServiceStub(channel)

        async def reverse(request: pb.ReverseRulingRequest, context: Context) -> pb.ReverseRulingResponse:
            try:
                return await stub.ReverseRuling(
                    request, metadata=_credentials(context), timeout=context.time_remaining() or _SECONDS
                )
            except grpc.aio.AioRpcError as error:
                return await _refuse(context, error)

        yield reverse


def _credentials(context: Context) -> tuple[tuple[str, Any], ...]:
    return tuple((key, value) for key, value in context.invocation_metadata() or () if key in _CREDENTIALS)


async def _refuse(context: Context, error: grpc.aio.AioRpcError) -> pb.ReverseRulingResponse:
    """End the call as the table service did. Raises Unavailable if it did not answer."""
    metadata: Any = error.trailing_metadata() or ()  # pairs
    trailers = tuple(metadata)
    if error.code() in _NO_ANSWER and all(key != _DETAILS_KEY for key, _ in trailers):
        message = "the table service did not answer: retry with the same request id"
        raise Unavailable(Reason.LOG_UNAVAILABLE, message) from error
    await context.abort(error.code(), error.details() or "", trailers)
    raise AssertionError("abort raises")
