"""Requests of every method there is, as the server's own reflection lists them, and what they may come to."""

import asyncio
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import grpc
from google.protobuf import descriptor_pool
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from tables.clients import refusal

OURS: Final = "baohuang."
CLEAR: Final = {
    grpc.StatusCode.OK,
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.UNAUTHENTICATED,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
}
_SECONDS: Final = 30.0
_SILENCE_SECONDS: Final = 1.0
_LOST_BY_THE_CLIENT: Final = 'Failed "execute_batch"'
"""How grpc.aio's client tells that it was still writing when the server ended the stream; the status is lost then."""
_ENOUGH: Final = 3
"""Messages that are read of a stream before it is left."""

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Shot:
    """One call: a method, who makes it, and the messages he sends, as bytes."""

    method: MethodDescriptor
    headers: Headers
    raw: tuple[bytes, ...]

    @property
    def path(self) -> str:
        """The method's path."""
        return f"/{self.method.containing_service.full_name}/{self.method.name}"


@dataclass(frozen=True, slots=True)
class Result:
    """How a call ended, the reason its status gives ("" if none), what it accepted or may have, and details."""

    code: grpc.StatusCode
    reason: str
    accepted: frozenset[str]
    details: str = ""


async def methods_of(channel: grpc.aio.Channel) -> list[MethodDescriptor]:
    """Return all methods of all services of this project that the server says it has."""
    info = reflection_pb2_grpc.ServerReflectionStub(channel).ServerReflectionInfo
    call = info(iter([reflection_pb2.ServerReflectionRequest(list_services="")]))
    listed = (await anext(aiter(call))).list_services_response.service
    call.cancel()
    pool = descriptor_pool.Default()
    services = [pool.FindServiceByName(one.name) for one in listed if one.name.startswith(OURS)]
    return [method for service in services for method in service.methods]


async def fire(channel: grpc.aio.Channel, shot: Shot) -> Result:
    """Make the call; a stream is left once it has said enough."""
    responses: list[bytes] = []
    try:
        if shot.method.server_streaming or shot.method.client_streaming:
            await _converse(channel, shot, responses)
        else:
            call = channel.unary_unary(shot.path, None, None)(shot.raw[0], metadata=shot.headers, timeout=_SECONDS)
            responses.append(await call)
    except grpc.aio.AioRpcError as error:
        if error.debug_error_string().startswith(_LOST_BY_THE_CLIENT):
            return await fire(channel, shot)
        # Who breaks his own stream off loses answers to what was under way on it.
        known = sent_by(shot) if shot.method.client_streaming else accepted_by(shot, responses)
        return Result(error.code(), refusal(error).reason, known, error.debug_error_string())
    return Result(grpc.StatusCode.OK, "", accepted_by(shot, responses))


async def _converse(channel: grpc.aio.Channel, shot: Shot, responses: list[bytes]) -> None:
    call: Any
    if shot.method.client_streaming:
        open_stream = channel.stream_stream if shot.method.server_streaming else channel.stream_unary
        call = open_stream(shot.path, None, None)(iter(shot.raw), metadata=shot.headers, timeout=_SECONDS)
    else:
        call = channel.unary_stream(shot.path, None, None)(shot.raw[0], metadata=shot.headers, timeout=_SECONDS)
    # A stream that we have closed on our side ends by itself, when all that was asked on it is answered.
    wanted = math.inf if shot.method.client_streaming else _ENOUGH
    while (
        len(responses) < wanted and (response := await _next(call, _SILENCE_SECONDS if responses else None)) is not None
    ):
        responses.append(response)
    call.cancel()


async def _next(call: Any, seconds: float | None) -> bytes | None:
    """Read a message; None at the end of the stream, and after so many seconds of silence."""
    try:
        async with asyncio.timeout(seconds):
            response = await call.read()
    except TimeoutError:
        return None
    return response if isinstance(response, bytes) else None


def accepted_by(shot: Shot, responses: Sequence[bytes]) -> frozenset[str]:
    """Return the ids of the requests that were accepted: the one of a call with a reply, those a stream names so."""
    if shot.method.client_streaming:
        replies = map(GetMessageClass(shot.method.output_type).FromString, responses)
        return frozenset(one for reply in replies for one in ids_in(reply, "Accepted"))
    return sent_by(shot) if responses else frozenset()


def sent_by(shot: Shot) -> frozenset[str]:
    """Return the ids of all requests that a call sends."""
    return frozenset(one for raw in shot.raw for one in _ids_sent(shot, raw))


def _ids_sent(shot: Shot, raw: bytes) -> Iterator[str]:
    try:
        yield from ids_in(GetMessageClass(shot.method.input_type).FromString(raw))
    except DecodeError:
        return


def ids_in(message: Message, kind: str = "") -> Iterator[str]:
    """Yield the request ids in a message and those in it; only of messages of a kind, if that is given."""
    for field, value in message.ListFields():
        if field.name == "request_id" and message.DESCRIPTOR.name.endswith(kind):
            yield value
        elif field.message_type is not None and not field.is_repeated:
            yield from ids_in(value, kind)


async def fire_all(channel: grpc.aio.Channel, shots: Sequence[Shot]) -> list[Result]:
    """Make all calls at once."""
    return await asyncio.gather(*(fire(channel, shot) for shot in shots))
