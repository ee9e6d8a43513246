"""One watch that outlives its streams: it resumes after the last version it has, whatever ended the stream before.

open ──message──► open          a stream ends by Reconnect, a lost connection, silence, a slow reader's cut
  ▲                 │ │         the next one is opened after the last version known, with backoff
  └─────ended───────┘ └──► over taken over by a newer stream of the same player: that one goes on
"""

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Any, Protocol

import grpc

from baohuang.client.errors import TRANSIENT, ClientError, TakenOverError, UnreachableError, error_of, reason_of
from baohuang.client.following import Moment, advanced, beginning, rejoined
from baohuang.client.patience import Patience
from baohuang.client.updates import update_in, view_in
from baohuang.gen.table.v1 import watch_pb2
from baohuang.rpc.messages import UnmappableError
from baohuang.rpc.reason import Reason
from baohuang.rules.state import TableId

Response = watch_pb2.WatchTableResponse


class Stream(Protocol):
    """An open stream of a table's messages."""

    async def read(self) -> object:
        """Return the next message, EOF behind the last. Raises AioRpcError, ClientError."""

    def cancel(self) -> object:
        """Want no more of it."""


Open = Callable[[watch_pb2.WatchTableRequest], Stream]
"""Opens a stream with the caller's credentials."""


class StreamEndedError(Exception):
    """The stream is over and another has to take its place."""


class Watch:
    """The moments of one table, from a snapshot on, every version once; `moments` is to be iterated once."""

    def __init__(self, table_id: TableId, open_stream: Open, patience: Patience, invitation_code: str = "") -> None:
        self._table_id = table_id
        self._invitation_code = invitation_code
        self._open_stream = open_stream
        self._patience = patience
        self._known: Moment | None = None

    async def moments(self) -> AsyncGenerator[Moment, None]:
        """Yield them until the consumer has enough.

        Raises RefusedError, TakenOverError, UnreachableError, ViewBrokenError.
        """
        while True:
            stream, first = await self._open()
            try:
                async for moment in self._read(stream, first):
                    yield moment
            except StreamEndedError:
                await asyncio.sleep(random.uniform(0, self._patience.spread_seconds))  # noqa: S311 - spreads a crowd
            finally:
                stream.cancel()

    async def _open(self) -> tuple[Stream, Response]:
        """Open a stream and wait for its first message, as often as patience has it."""
        try:
            async for attempt in self._patience.attempt(lambda error: isinstance(error, StreamEndedError)):
                with attempt:
                    return await self._opened_once()
        except StreamEndedError as ended:
            raise UnreachableError(f"no stream of the table lasts: {ended}") from ended
        raise AssertionError("the last attempt returns or raises")

    async def _opened_once(self) -> tuple[Stream, Response]:
        after = self._known.version if self._known else None
        request = watch_pb2.WatchTableRequest(
            table_id=self._table_id, after_version=after, invitation_code=self._invitation_code
        )
        stream = self._open_stream(request)
        try:
            return stream, await self._next(stream)
        except BaseException:
            stream.cancel()
            raise

    async def _read(self, stream: Stream, response: Response) -> AsyncIterator[Moment]:
        while True:
            if moment := self._learn(response):
                self._known = moment
                yield moment
            response = await self._next(stream)

    async def _next(self, stream: Stream) -> Response:
        """Return the next message.

        Raises StreamEndedError where another stream helps, else RefusedError, TakenOverError.
        """
        try:
            # Not wait_for: before Python 3.12 it can swallow a cancellation that comes with the message.
            async with asyncio.timeout(self._patience.silence_seconds):
                response: Any = await stream.read()
        except TimeoutError:
            raise StreamEndedError("silence") from None
        except grpc.aio.AioRpcError as failed:
            raise _meaning(failed) from failed
        if response is grpc.aio.EOF:  # type: ignore[attr-defined] # missing in the stubs
            raise StreamEndedError("end of stream")
        if response.HasField("taken_over"):
            raise TakenOverError(response.taken_over.version)
        if response.HasField("reconnect"):
            raise StreamEndedError(watch_pb2.ReconnectReason.Name(response.reconnect.reason))
        return response  # type: ignore[no-any-return] # read() is typed as message or EOF

    def _learn(self, response: Response) -> Moment | None:
        """Return the moment that a message brings, None if it brings none."""
        try:
            return self._moment_of(response)
        except UnmappableError as newer:
            self._known = None
            raise StreamEndedError(f"newer than this client: {newer}") from newer

    def _moment_of(self, response: Response) -> Moment | None:
        match response.WhichOneof("message"):
            case "snapshot":
                view = view_in(response.snapshot)
                return rejoined(self._known, view) if self._known else beginning(view)
            case "update":
                return self._advanced(response.update)
            case "heartbeat":
                self._check_up_to_date(response.heartbeat.version)
        return None

    def _advanced(self, message: watch_pb2.Update) -> Moment:
        if self._known is None:
            raise StreamEndedError("an update before any snapshot")
        return advanced(self._known, update_in(message))

    def _check_up_to_date(self, version: int) -> None:
        if self._known is None or version > self._known.version:
            raise StreamEndedError("something was missed")


def _meaning(failed: grpc.aio.AioRpcError) -> StreamEndedError | ClientError:
    if failed.code() in TRANSIENT or reason_of(failed) == Reason.SLOW_READER:
        return StreamEndedError(f"{failed.code().name}: {failed.details()}")
    return error_of(failed)
