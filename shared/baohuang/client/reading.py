"""Reading a stream that another one may take the place of, whatever ended it."""

import asyncio
import random
from collections.abc import Callable
from typing import Any, Final, Protocol

import grpc

from baohuang.client.errors import ClientError, RefusedError, UnreachableError, error_of, is_passing, reason_of
from baohuang.client.patience import Patience
from baohuang.rpc.reason import Reason

END: Final = grpc.aio.EOF  # type: ignore[attr-defined] # missing in the stubs


class Stream(Protocol):
    """An open stream of messages."""

    async def read(self) -> object:
        """Return the next message, EOF behind the last. Raises AioRpcError, ClientError."""

    def cancel(self) -> object:
        """Want no more of it."""


class StreamEndedError(Exception):
    """The stream is over and another has to take its place."""


class Reading:
    """Reads streams of one kind; `check` raises StreamEndedError, or a ClientError, for a message that ends its stream.

    `what` they are of stands in the error's message.
    """

    def __init__(self, what: str, patience: Patience, check: Callable[[Any], None]) -> None:
        self._what = what
        self._patience = patience
        self._check = check

    async def first(self, open_stream: Callable[[], Stream]) -> tuple[Stream, Any]:
        """Open a stream and wait for its first message, as often as patience has it.

        Raises RefusedError and its kinds, UnreachableError.
        """
        return await self._opened(open_stream, is_ended)

    async def another(self, open_stream: Callable[[], Stream]) -> tuple[Stream, Any]:
        """Do as `first` in place of a stream that was lost.

        The service may not know yet that it was, and count it among those that its player has open: that passes.
        """
        return await self._opened(open_stream, is_ended_or_counted_still)

    async def _opened(
        self, open_stream: Callable[[], Stream], passes: Callable[[BaseException], bool]
    ) -> tuple[Stream, Any]:
        try:
            async for attempt in self._patience.attempt(passes):
                with attempt:
                    return await self._opened_once(open_stream)
        except StreamEndedError as ended:
            raise UnreachableError(f"no stream of {self._what} lasts: {ended}") from ended
        raise AssertionError("the last attempt returns or raises")

    async def next(self, stream: Stream) -> Any:
        """Return the next message. Raises StreamEndedError where another stream helps, else a ClientError."""
        message = await next_message(stream, self._patience.silence_seconds)
        self._check(message)
        return message

    async def spread(self) -> None:
        """Wait for a part of what a crowd that was sent away spreads over."""
        await asyncio.sleep(random.uniform(0, self._patience.spread_seconds))  # noqa: S311 - spreads a crowd

    async def _opened_once(self, open_stream: Callable[[], Stream]) -> tuple[Stream, Any]:
        stream = open_stream()
        try:
            return stream, await self.next(stream)
        except BaseException:
            stream.cancel()
            raise


def is_ended(error: BaseException) -> bool:
    """Tell whether a stream is over and another helps."""
    return isinstance(error, StreamEndedError)


def is_ended_or_counted_still(error: BaseException) -> bool:
    """Tell whether another stream helps in place of one that was lost, and that the service may not have missed yet."""
    too_many = isinstance(error, RefusedError) and error.reason == Reason.TOO_MANY_STREAMS
    return too_many or is_ended(error)


async def next_message(stream: Stream, silence_seconds: float) -> Any:
    """Return the next message. Raises StreamEndedError where another stream helps, and at the end; ClientError."""
    message = await message_or_end(stream, silence_seconds)
    if message is END:
        raise StreamEndedError("end of stream")
    return message


async def message_or_end(stream: Stream, silence_seconds: float) -> Any:
    """Return the next message, END behind the last. Raises StreamEndedError where another stream helps, ClientError."""
    try:
        # Not wait_for: before Python 3.12 it can swallow a cancellation that comes with the message.
        async with asyncio.timeout(silence_seconds):
            message: Any = await stream.read()
    except TimeoutError:
        raise StreamEndedError("silence") from None
    except grpc.aio.AioRpcError as failed:
        raise _meaning(failed) from failed
    return message


def _meaning(failed: grpc.aio.AioRpcError) -> StreamEndedError | ClientError:
    if is_passing(failed) or reason_of(failed) == Reason.SLOW_READER:
        return StreamEndedError(f"{failed.code().name}: {failed.details()}")
    return error_of(failed)
