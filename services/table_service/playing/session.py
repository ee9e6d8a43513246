"""One Play stream, from its first message to its end.

    read ──► command ──► orders ──► handler             reads pause while too many commands are under way
      │                    └──► Accepted, Refused ───┐  or too much waits to be written
      └────► Watch ──► the table's watch ──► message ┴──► outbox ──► written, one at a time

How it ends. The client closes its side: what it sent is answered, then OK. The server goes away, or the stream has
reached its age: likewise, behind a PlayReconnect. A message that is not valid: likewise, then INVALID_ARGUMENT. He
reads too slowly: RESOURCE_EXHAUSTED. He cancels: commands under way are finished all the same, by the handler.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

import structlog
from opentelemetry.trace import Span, SpanKind

from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.gen.table.v1 import watch_pb2
from baohuang.metrics.bugs import Bugs
from baohuang.rpc.call import current_caller
from baohuang.rpc.errors import MalformedInput, Refusal
from baohuang.rpc.rate_limit import RateLimiter
from baohuang.rpc.stream_limit import StreamLimiter
from baohuang.rpc.traced import note_refusal
from baohuang.tracing import carried, spans
from table_service import api
from table_service.answering import answer_to, refused
from table_service.clock import DatabaseClock
from table_service.handler import CommandHandler
from table_service.playing import answers
from table_service.playing.orders import Order, Orders
from table_service.playing.outbox import Outbox
from table_service.playing.watched import Watched, stopped
from table_service.request import Done
from table_service.watch.hub import Hub
from table_service.watch.stream import Watching
from table_service.watch.subscription import StreamLimits

_PLAY: Final = f"{pb.DESCRIPTOR.services_by_name['TableService'].full_name}/Play"
_log = structlog.get_logger("table_service")


@dataclass(frozen=True, slots=True)
class Playing:
    """What Play streams are made of."""

    handler: CommandHandler
    watching: Watching
    hub: Hub
    limiter: RateLimiter
    streams: StreamLimiter
    clock: DatabaseClock
    limits: StreamLimits
    bugs: Bugs

    async def play(self, requests: AsyncIterator[pb.PlayRequest], write: Callable[[bytes], Awaitable[None]]) -> None:
        """Serve one stream of the caller and write what it is sent, serialized.

        Raises Refusal: MalformedInput (a message that is none), Exhausted (SLOW_READER).
        """
        session = _Session(self)
        with self.hub.when_draining(session.drain):
            session.start(requests)
            try:
                while (message := await session.outbox.next()) is not None:
                    await write(message)
            finally:
                await session.stop()


class _Session:
    def __init__(self, playing: Playing) -> None:
        self._playing = playing
        self._caller = current_caller()
        self.outbox = Outbox()
        self._orders = Orders(playing.handler, self._answer)
        counted = partial(playing.streams.stream_of, self._caller)
        self._watched = Watched(playing.watching, self.outbox, counted, playing.bugs, self._leave)
        self._reading: asyncio.Task[None] | None = None
        self._leaving: asyncio.Task[None] | None = None
        self._beating: asyncio.Task[None] | None = None
        self._ageing: asyncio.Task[None] | None = None
        self._traced = spans.wanted()

    def start(self, requests: AsyncIterator[pb.PlayRequest]) -> None:
        """Begin to serve the stream: what is to be written comes to the outbox."""
        self._reading = asyncio.create_task(self._read(requests))
        self._reading.add_done_callback(self._read_no_more)
        self._beating = asyncio.create_task(self._beat())
        self._ageing = asyncio.create_task(self._age())

    async def stop(self) -> None:
        """Serve it no longer; commands under way are the handler's."""
        self._orders.drop()
        await stopped((self._reading, self._leaving, self._beating, self._ageing))
        await self._watched.stop()

    def drain(self) -> None:
        """Send the client away: the server is going."""
        self._leave(watch_pb2.RECONNECT_REASON_DRAINING)

    def _leave(self, reason: "watch_pb2.ReconnectReason.ValueType") -> None:
        if self._leaving is None:
            self._leaving = asyncio.create_task(self._left(reason))

    async def _left(self, reason: "watch_pb2.ReconnectReason.ValueType") -> None:
        """Take no more, answer what was taken, say where each table stands, and end."""
        await stopped((self._reading,))
        await self._orders.finish()
        self.outbox.put(answers.reconnect(reason, await self._watched.stop()))
        self.outbox.end()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self._playing.limits.heartbeat_seconds)
            if self.outbox.was_silent():
                self.outbox.put(answers.heartbeat())

    async def _age(self) -> None:
        """Send the client away at the stream's age, whether he watches anything or not: the connection ends then."""
        await asyncio.sleep(self._playing.limits.lifetime())
        self._leave(watch_pb2.RECONNECT_REASON_CONNECTION_AGE)

    async def _read(self, requests: AsyncIterator[pb.PlayRequest]) -> None:
        """Take what comes; at its end, good or bad, the stream ends too, behind the last answer."""
        refusal: Refusal | None = None
        try:
            async for request in requests:
                await self._take(request)
                await self.outbox.has_room()
        except MalformedInput as malformed:
            refusal = malformed
        await self._orders.finish()
        self.outbox.end(refusal)

    def _read_no_more(self, reading: "asyncio.Task[None]") -> None:
        """End the stream with what nobody expects: a bug is the interceptor's to tell."""
        if not reading.cancelled() and (error := reading.exception()):
            self.outbox.end(error)

    async def _take(self, request: pb.PlayRequest) -> None:
        kind = request.WhichOneof("message")
        match kind:
            case None:
                raise MalformedInput.field("message", "must be set")
            case "unwatch":
                self._watched.end(request.unwatch.table_id)
            case "watch":
                await self._watch(request)
            case _:
                await self._order(getattr(request, kind), self._begun(kind, request.traceparent))

    async def _watch(self, request: pb.PlayRequest) -> None:
        try:
            self._playing.limiter.admit(self._caller)
        except Refusal as refusal:
            self.outbox.put(answers.answered(refused("", request.watch.table_id, refusal)))
        else:
            await self._watched.begin(request.watch)

    def _begun(self, kind: str, traceparent: str) -> Span | None:
        """Begin the span of a command in its client's trace, where traces are wanted."""
        if not self._traced:
            return None
        parent = carried.parent_in([(carried.TRACEPARENT, traceparent)])
        return spans.begun(f"{_PLAY} {kind}", parent, SpanKind.SERVER)

    async def _order(self, message: api.MutatingRequest, span: Span | None) -> None:
        try:
            self._playing.limiter.admit(self._caller)
            request = api.request_in(message, self._playing.clock.now)
        except Refusal as refusal:
            table_id = "" if isinstance(message, pb.OpenTableRequest) else message.table_id
            self.outbox.put(answers.answered(refused(message.request_id, table_id, refusal)))
            _ended(span, refusal)
        else:
            await self._orders.take(Order(request, span))

    def _answer(self, order: Order, task: "asyncio.Task[Done]") -> None:
        _ended(order.span, task.exception())
        self.outbox.put(answers.answered(answer_to(order.request, task)))


def _ended(span: Span | None, error: BaseException | None) -> None:
    """End the span of a command with what came of it."""
    if span is None:
        return
    if isinstance(error, Refusal):
        note_refusal(span, error)
    elif error is not None:
        spans.failed(span)
    span.end()
