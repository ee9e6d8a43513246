"""Around every handler: who calls, whether he calls too often, and what a failure becomes.

    bytes that are no such message   → INVALID_ARGUMENT
    a server that is going away      → UNAVAILABLE
    no identity                      → UNAUTHENTICATED (health and reflection ask for none)
    too many calls, or streams       → RESOURCE_EXHAUSTED (of health and reflection, streams in all)
    Refusal                          → its own status, with details
    cut from outside                 → the refusal it was cut with, whether the client takes it in or not
    cancellation, context.abort      → passed on
    anything else                    → INTERNAL without its text; logged with its traceback

A method's handler is wrapped once, at its first call, and kept: a call then costs one lookup and one coroutine.
"""

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AbstractContextManager, aclosing
from dataclasses import dataclass
from typing import Any, cast

import grpc
import structlog
from google.protobuf.message import DecodeError

from baohuang.rpc.auth import Authenticator
from baohuang.rpc.call import CALL, Call, current_caller
from baohuang.rpc.call_counts import CallCounts
from baohuang.rpc.errors import MalformedInput, Reason, Refusal, Unavailable
from baohuang.rpc.rate_limit import RateLimiter
from baohuang.rpc.status import text, trailers
from baohuang.rpc.stream_limit import StreamLimiter
from baohuang.rpc.traced import note_refusal, traced, traced_opening
from baohuang.tracing import spans

_CLOSING_SECONDS = 2.0
"""How long the end of a call that was cut is waited for."""
_OPEN_TO_ALL = ("/grpc.health.", "/grpc.reflection.")

Context = grpc.aio.ServicerContext[Any, Any]
Handler = Any  # grpc.RpcMethodHandler; its stub knows only the blocking kind
Behaviour = Callable[[Any, Context], Awaitable[Any]]
Admit = Callable[[str, Context], Call | None]
"""Looks at a call before it is handled: gives what is known of it, or raises a Refusal."""
Continuation = Callable[[grpc.HandlerCallDetails], Awaitable[Handler]]

_log = structlog.get_logger("baohuang.rpc")


class InternalRefusal(Refusal):
    """The status of a bug. Only this module raises it; it says nothing of the cause."""

    code = grpc.StatusCode.INTERNAL

    def __init__(self) -> None:
        super().__init__(Reason.INTERNAL, "internal error")


@dataclass(frozen=True, slots=True)
class Undecodable:
    """Stands for a request whose bytes are not the method's message: decoding happens outside the handler."""


def _decoded(request: Any) -> Any:
    if type(request) is Undecodable:
        raise MalformedInput("the request is not a valid message of this method")
    return request


class CallInterceptor(grpc.aio.ServerInterceptor):  # type: ignore[type-arg] # generic in the stubs only
    """Authenticates callers, bounds their rate and maps failures, for unary and streaming methods alike."""

    def __init__(self, authenticator: Authenticator, limiter: RateLimiter, streams: StreamLimiter) -> None:
        self._authenticator = authenticator
        self._limiter = limiter
        self._streams = streams
        self._wrapped: dict[str, Handler] = {}
        self.counts: dict[str, CallCounts] = {}
        self._draining = False
        self._traced = spans.wanted()

    def expect(self, methods: Iterable[str]) -> None:
        """Count these from now on, none so far: of a count that begins with the first failure nobody sees it grow."""
        for method in methods:
            self.counts.setdefault(method, CallCounts())

    def refuse_new_calls(self) -> None:
        """Answer every call from now on with UNAVAILABLE, reason DRAINING; those under way go on."""
        self._draining = True

    def _check_not_draining(self) -> None:
        if self._draining:
            raise Unavailable(Reason.DRAINING, "the server is going away: connect again and retry")

    async def intercept_service(
        self, continuation: Continuation, handler_call_details: grpc.HandlerCallDetails
    ) -> Handler:
        """Give the wrapped handler of the method; None from grpc means there is no such method."""
        method = handler_call_details.method
        known = self._wrapped.get(method)
        if known is not None:
            return known
        handler = await continuation(handler_call_details)
        if handler is None:
            return None
        counts = self.counts.setdefault(method, CallCounts())
        return self._wrapped.setdefault(method, self._made(method, handler, counts))

    def _made(self, method: str, handler: Handler, counts: CallCounts) -> Handler:
        """Wrap a method's handler."""
        behaviour, streams = _behaviour(handler), handler.request_streaming or handler.response_streaming
        if method.startswith(_OPEN_TO_ALL):
            if streams:
                behaviour = _counted(behaviour, self._streams.stream_of_anybody)
            return _rebuilt(handler, _guarded(method, behaviour, _admit_anybody, counts))
        if streams:
            # Of a stream the opening alone is a span.
            admit = traced_opening(self._admit) if self._traced else self._admit
            return _rebuilt(handler, _guarded(method, _counted(behaviour, self._stream_of_caller), admit, counts))
        guarded = _guarded(method, behaviour, self._admit, counts)
        return _rebuilt(handler, traced(method, guarded) if self._traced else guarded)

    def _stream_of_caller(self) -> AbstractContextManager[None]:
        return self._streams.stream_of(current_caller())

    def _admit(self, method: str, context: Context) -> Call:
        """Say who calls. Raises Unavailable, Unauthenticated, Exhausted."""
        self._check_not_draining()
        metadata = context.invocation_metadata()
        caller = self._authenticator.authenticate(metadata)  # type: ignore[arg-type] # pairs
        call = Call(method, caller)
        CALL.set(call)
        self._limiter.admit(caller)
        return call


def _admit_anybody(_method: str, _context: Context) -> None:
    """Let whoever asks how the server is, or what it serves, ask that at any time."""


def _counted(behaviour: Behaviour, opened: Callable[[], AbstractContextManager[None]]) -> Behaviour:
    """Give a stream's behaviour, counted for as long as it lasts."""

    async def counted(request: Any, context: Context) -> Any:
        with opened():
            return await behaviour(request, context)

    return counted


def _guarded(method: str, behaviour: Behaviour, admit: Admit, counts: CallCounts) -> Behaviour:
    """Give the behaviour with who calls looked at first, and what it raises counted and made into a status."""

    async def guarded(request: Any, context: Context) -> Any:
        call: Call | None = None
        counts.begun += 1
        try:
            call = admit(method, context)
            return await behaviour(_decoded(request), context)
        except Refusal as refusal:
            counts.refused[refusal.reason] += 1
            note_refusal(spans.sampled(), refusal)
            await _refuse(context, refusal)
        except asyncio.CancelledError:
            if call is None or call.cut_by is None:
                raise
            counts.refused[call.cut_by.reason] += 1
            await _cut(context, call.cut_by)
        except grpc.aio.AbortError:
            raise
        except grpc.aio.InternalError:
            # How grpc says that the client was gone when something was written to him.
            raise asyncio.CancelledError from None
        except Exception as error:  # noqa: BLE001 - the one place where a bug becomes a status
            counts.failed += 1
            spans.failed(spans.sampled())
            await _fail(context, method, error)
        finally:
            counts.ended += 1

    return guarded


async def _fail(context: Context, method: str, error: Exception) -> None:
    """Answer INTERNAL for a bug; UNIMPLEMENTED for what a generated servicer raises where nobody wrote the method."""
    if isinstance(error, NotImplementedError) and context.code() is grpc.StatusCode.UNIMPLEMENTED:
        await context.abort(grpc.StatusCode.UNIMPLEMENTED, f"{method} is not served here")
    _log.error("handler failed", client_gone=context.done(), exc_info=error)
    if not context.done():
        await _refuse(context, InternalRefusal())


async def _refuse(context: Context, refusal: Refusal) -> None:
    await context.abort(refusal.code, text(refusal), trailers(refusal))


async def _cut(context: Context, refusal: Refusal) -> None:
    """Refuse a call whose client may take nothing in. Raises CancelledError if it does not.

    The status waits behind what was written before, in grpc's hands: the client has it when it reads again, and the
    connection's age ends the wait if it never does.
    """
    try:
        async with asyncio.timeout(_CLOSING_SECONDS):
            await _refuse(context, refusal)
    except (TimeoutError, grpc.aio.InternalError):
        raise asyncio.CancelledError from None


def _behaviour(handler: Handler) -> Behaviour:
    """Give the servicer's method as one that is awaited, be it unary or a stream written by an async generator."""
    behaviour: Any = handler.unary_unary or handler.unary_stream or handler.stream_unary or handler.stream_stream
    if not inspect.isasyncgenfunction(behaviour):
        return cast("Behaviour", behaviour)

    async def write_all(request: Any, context: Context) -> None:
        responses: AsyncIterator[Any]
        async with aclosing(behaviour(request, context)) as responses:
            async for response in responses:
                await context.write(response)

    return write_all


def _rebuilt(handler: Handler, behaviour: Behaviour) -> Handler:
    """Give a method handler like `handler`, with another behaviour and a decoder that does not raise outside of it."""
    make = {
        (False, False): grpc.unary_unary_rpc_method_handler,
        (False, True): grpc.unary_stream_rpc_method_handler,
        (True, False): grpc.stream_unary_rpc_method_handler,
        (True, True): grpc.stream_stream_rpc_method_handler,
    }[handler.request_streaming, handler.response_streaming]
    return make(behaviour, _decoder(handler), _encoder(handler))


def _encoder(handler: Handler) -> Callable[[Any], bytes]:
    """Encode a response, unless it is encoded already: what goes to many watchers is serialized once for all."""
    encode = handler.response_serializer

    def encode_unless_bytes(response: Any) -> bytes:
        return response if type(response) is bytes else encode(response)

    return encode_unless_bytes


def _decoder(handler: Handler) -> Callable[[bytes], Any]:
    """Decode a request. A streamed one is decoded inside the handler's iteration, so there it may raise."""
    decode = handler.request_deserializer

    def decode_unary(raw: bytes) -> Any:
        try:
            return decode(raw)
        except DecodeError:
            return Undecodable()

    def decode_streamed(raw: bytes) -> Any:
        try:
            return decode(raw)
        except DecodeError:
            raise MalformedInput("a message of the stream is not valid for this method") from None

    return decode_streamed if handler.request_streaming else decode_unary
