"""An open stream in both directions, of which everything that came is read, whatever became of what was written."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final, NamedTuple, TypeVar

import grpc

from baohuang.client.reading import END

T = TypeVar("T")
_OF_A_WRITE: Final = "Internal error from Core"
"""The details of the status, INTERNAL, that grpc gives a stream of which a write met the end."""


class _Status(NamedTuple):
    """How a service ended a stream."""

    code: grpc.StatusCode
    details: str
    trailers: grpc.aio.Metadata


class BothWays:
    """One call of a method that streams both ways.

    A server that ends a stream ends it while its client writes. As soon as something that is written meets the end of
    the stream, grpc's own `read` gives up what has come already, and INTERNAL takes the place of the service's status,
    whichever of the two was there first. So the messages are iterated over, and the service's status is noted when it
    comes, for the one that is found behind the last message may be the other.
    """

    def __init__(self, call: Any) -> None:
        self._call = call
        self._messages = aiter(call)
        self._status: asyncio.Future[_Status] = asyncio.get_running_loop().create_future()
        call.add_done_callback(self._note)  # grpc calls it for each status

    async def read(self) -> object:
        """Return the next message, END behind the last. Raises AioRpcError with the status of the service."""
        try:
            return await anext(self._messages, END)
        except grpc.aio.AioRpcError as failed:
            if failed.details() != _OF_A_WRITE:
                raise
            return _end(await self._status, failed)

    async def write(self, message: object) -> None:
        """Send a message. Raises AioRpcError or InvalidStateError when the stream is over: its reader finds out why."""
        await self._call.write(message)

    def cancel(self) -> object:
        """Want no more of it."""
        return self._call.cancel()

    def _note(self, call: Any) -> None:
        status = _Status(_at_once(call.code()), _at_once(call.details()), _at_once(call.trailing_metadata()))
        if status.details != _OF_A_WRITE and not self._status.done():
            self._status.set_result(status)


def _at_once(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return what comes of a coroutine that waits for nothing, as those of a call that is over: later is too late."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    raise AssertionError("the call is over, and it waits")


def _end(status: _Status, failed: grpc.aio.AioRpcError) -> object:
    """Return END for OK. Raises AioRpcError with any other status."""
    if status.code is grpc.StatusCode.OK:
        return END
    initial, text = failed.initial_metadata(), failed.debug_error_string()
    raise grpc.aio.AioRpcError(status.code, initial, status.trailers, status.details, text) from failed
