"""Playing and watching over one stream that outlives its connections.

open ──message──► open      the stream ends by Reconnect, a lost connection, silence, a slow reader's cut
  ▲                 │       the next one is opened with backoff; what was not answered is sent again, in its order and
  └─────ended───────┘       with its request ids, and every watch resumes after the version it has

One task reads and another writes, so whoever has a command answered waits for nobody else.
"""

import asyncio
import random
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final, Protocol, Self

import grpc

from baohuang.client.calling import calling
from baohuang.client.commands import Commands, Receipt, Request, receipt_of
from baohuang.client.errors import (
    TRANSIENT,
    ClientError,
    FaultError,
    Refusal,
    UnreachableError,
    refused_with,
)
from baohuang.client.following import Moment
from baohuang.client.patience import Patience
from baohuang.client.reading import Stream, StreamEndedError, is_ended, is_ended_or_counted_still, next_message
from baohuang.client.table_stream import TableStream
from baohuang.client.watching import Watch
from baohuang.eventlog.port import RequestId
from baohuang.gen.table.v1 import play_pb2, watch_pb2
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.rpc.errors import FieldViolation
from baohuang.rules.state import TableId
from baohuang.tracing import carried


class PlayStream(Stream, Protocol):
    """An open Play stream."""

    async def write(self, message: pb.PlayRequest) -> None:
        """Send a message. Raises AioRpcError or InvalidStateError when the stream is over."""


Open = Callable[[], PlayStream]
"""Opens a Play stream with the caller's credentials."""
_TRANSIENT: Final = frozenset(code.value[0] for code in TRANSIENT)
_FIELDS: Final = {
    field.message_type.full_name: field.name for field in pb.PlayRequest.DESCRIPTOR.fields if field.message_type
}


@dataclass(slots=True)
class _Command:
    """A command without an answer, and how often it was refused for a reason that passes."""

    message: pb.PlayRequest
    answer: "asyncio.Future[Receipt]"
    tries: int = 1


class Playing(Commands):
    """Commands and watches of one player over one stream; an async context manager, made by `TableClient.play`.

    Commands to one table are carried out in the order in which they were begun.
    """

    def __init__(self, open_stream: Open, patience: Patience) -> None:
        self._open_stream = open_stream
        self._patience = patience
        self._unanswered: dict[RequestId, _Command] = {}
        self._tables: dict[str, TableStream] = {}
        self._to_send: deque[pb.PlayRequest] = deque()
        self._something = asyncio.Event()
        self._keeping: asyncio.Task[None] | None = None
        self._failure: ClientError | None = None

    async def __aenter__(self) -> Self:
        self._keeping = asyncio.create_task(self._keep_open())
        self._keeping.add_done_callback(self._over)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._keeping:
            self._keeping.cancel()
            await asyncio.gather(self._keeping, return_exceptions=True)

    async def watch(self, table_id: TableId, *, invitation_code: str = "") -> AsyncGenerator[Moment, None]:
        """Yield the table as `TableClient.watch` does. A newer watch of the same table over this stream ends this one.

        Raises RefusedError, TakenOverError, UnreachableError, ViewBrokenError.
        """
        watch = Watch(table_id, self._open_table, self._patience, invitation_code)
        async with aclosing(watch.moments()) as moments:
            async for moment in moments:
                yield moment

    async def _carry_out(self, request: Request) -> Receipt:
        request_id = RequestId(request.request_id)
        if self._failure is not None or self._keeping is None:
            raise self._failure_of(request_id)
        if request_id in self._unanswered:
            raise ValueError(f"request {request_id} is under way")
        with calling(request):
            return await self._answered_to(request, request_id)

    async def _answered_to(self, request: Request, request_id: RequestId) -> Receipt:
        message = pb.PlayRequest(**{_FIELDS[request.DESCRIPTOR.full_name]: request}, traceparent=carried.current())  # type: ignore[arg-type] # by name
        command = self._unanswered[request_id] = _Command(message, asyncio.get_running_loop().create_future())
        self._send(message)
        try:
            return await command.answer
        finally:
            self._unanswered.pop(request_id, None)

    def _open_table(self, request: watch_pb2.WatchTableRequest) -> TableStream:
        """Watch a table from now on, and on every stream that is opened until this one of the table's is over."""
        before = self._tables.get(request.table_id)
        if before is not None:
            before.end()
        stream = self._tables[request.table_id] = TableStream(request, self._unwatch)
        if self._failure is not None:
            stream.end(self._failure)
        self._send(_watch(request))
        return stream

    def _unwatch(self, stream: TableStream) -> None:
        if self._tables.get(stream.request.table_id) is stream:
            del self._tables[stream.request.table_id]
            self._send(pb.PlayRequest(unwatch=play_pb2.Unwatch(table_id=stream.request.table_id)))

    def _send(self, message: pb.PlayRequest) -> None:
        self._to_send.append(message)
        self._something.set()

    async def _keep_open(self) -> None:
        """Open one stream after the other. Raises ClientError when none lasts, or the service wants none."""
        passes = is_ended
        try:
            while True:
                async for attempt in self._patience.attempt(passes):
                    with attempt:
                        await self._serve()
                passes = is_ended_or_counted_still
                await asyncio.sleep(random.uniform(0, self._patience.spread_seconds))  # noqa: S311 - spreads a crowd
        except StreamEndedError as ended:
            raise UnreachableError(f"no stream lasts: {ended}") from ended

    async def _serve(self) -> None:
        """Serve one stream to its end. Raises StreamEndedError if it brought nothing, ClientError if none will."""
        stream = self._open_stream()
        self._begin_anew()
        writing = asyncio.create_task(self._write(stream))
        try:
            await self._heard(stream)
        finally:
            writing.cancel()
            stream.cancel()
            for table in [*self._tables.values()]:
                table.end()
            self._tables.clear()

    def _begin_anew(self) -> None:
        """Have a new stream begin with the watches and with what was not answered on the one before."""
        self._to_send.clear()
        for table in self._tables.values():
            self._send(_watch(table.request))
        for command in self._unanswered.values():
            self._send(command.message)

    async def _write(self, stream: PlayStream) -> None:
        while True:
            while self._to_send:
                try:
                    await stream.write(self._to_send.popleft())
                except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
                    return  # the stream is over: its reader finds out why
            self._something.clear()
            await self._something.wait()

    async def _heard(self, stream: PlayStream) -> None:
        message = await self._next(stream)
        while message is not None:
            self._take(message)
            try:
                message = await self._next(stream)
            except StreamEndedError:
                return

    async def _next(self, stream: PlayStream) -> play_pb2.PlayResponse | None:
        """Return the next message, None at an orderly end. Raises StreamEndedError where another stream helps."""
        message = await next_message(stream, self._patience.silence_seconds)
        return None if message.HasField("reconnect") else message

    def _take(self, message: play_pb2.PlayResponse) -> None:
        match message.WhichOneof("message"):
            case "accepted":
                self._answered(message.accepted.request_id, receipt_of(message.accepted))
            case "refused" if message.refused.request_id:
                self._refused(message.refused)
            case "refused":
                self._refused_watch(message.refused)
            case "table" if message.table.table_id in self._tables:
                self._tables[message.table.table_id].take(message.table.message)

    def _answered(self, request_id: str, receipt: Receipt) -> None:
        command = self._unanswered.get(RequestId(request_id))
        if command is not None and not command.answer.done():
            command.answer.set_result(receipt)

    def _refused(self, refused: play_pb2.Refused) -> None:
        command = self._unanswered.get(RequestId(refused.request_id))
        if command is None or command.answer.done():
            return
        if refused.code not in _TRANSIENT:
            command.answer.set_exception(_error_of(refused))
        elif command.tries == self._patience.attempts:
            command.answer.set_exception(UnreachableError(refused.message, RequestId(refused.request_id)))
        else:
            wait = self._patience.first_wait_seconds * 2**command.tries
            command.tries += 1
            asyncio.get_running_loop().call_later(
                min(wait, self._patience.longest_wait_seconds), self._again, RequestId(refused.request_id)
            )

    def _again(self, request_id: RequestId) -> None:
        """Send a command again, if somebody still waits for its answer."""
        command = self._unanswered.get(request_id)
        if command is not None and not command.answer.done():
            self._send(command.message)

    def _refused_watch(self, refused: play_pb2.Refused) -> None:
        table = self._tables.pop(refused.table_id, None)
        if table is not None:
            table.end(None if refused.code in _TRANSIENT else _error_of(refused))

    def _over(self, keeping: "asyncio.Task[None]") -> None:
        """Tell all who wait that there is no stream any more, and why."""
        error = UnreachableError("it was closed") if keeping.cancelled() else keeping.exception()
        self._failure = error if isinstance(error, ClientError) else FaultError(f"the client failed: {error!r}")
        for request_id, command in self._unanswered.items():
            if not command.answer.done():
                command.answer.set_exception(self._failure_of(request_id))
        for table in self._tables.values():
            table.end(self._failure)

    def _failure_of(self, request_id: RequestId) -> ClientError:
        """Return what to raise for a command; that it may be stored all the same goes with its request id."""
        if isinstance(self._failure, UnreachableError):
            return UnreachableError(str(self._failure), request_id)
        return self._failure or FaultError("it was not opened")


def _watch(request: watch_pb2.WatchTableRequest) -> pb.PlayRequest:
    after = request.after_version if request.HasField("after_version") else None
    watch = play_pb2.Watch(table_id=request.table_id, after_version=after, invitation_code=request.invitation_code)
    return pb.PlayRequest(watch=watch)


def _error_of(refused: play_pb2.Refused) -> ClientError:
    violations = tuple(FieldViolation(one.field, one.description) for one in refused.field_violations)
    return refused_with(refused.code, Refusal(refused.reason, refused.message, dict(refused.metadata), violations))
