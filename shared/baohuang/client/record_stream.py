"""One reading of the record that outlives its streams: it goes on behind the last event that came."""

from collections.abc import AsyncGenerator, Callable
from typing import Any

from baohuang.client.errors import UnreachableError
from baohuang.client.patience import Patience
from baohuang.client.reading import END, Stream, StreamEndedError, message_or_end
from baohuang.client.records import RecordedEvent, recorded_in
from baohuang.gen.history.v1 import history_service_pb2 as pb


class RecordStream:
    """The events of one StreamEvents request, each once; `events` is to be iterated once."""

    def __init__(
        self,
        request: pb.StreamEventsRequest,
        open_stream: Callable[[pb.StreamEventsRequest], Stream],
        patience: Patience,
    ) -> None:
        self._request = request
        self._open = open_stream
        self._patience = patience

    async def events(self) -> AsyncGenerator[RecordedEvent, None]:
        """Yield them to the last one there is. Raises RefusedError and its kinds, UnreachableError, FaultError."""
        while True:
            stream, message = await self._opened()
            try:
                while message is not END:
                    event = recorded_in(message.event)
                    self._go_on_behind(event)
                    yield event
                    message = await message_or_end(stream, self._patience.silence_seconds)
            except StreamEndedError:
                continue
            finally:
                stream.cancel()
            return

    async def _opened(self) -> tuple[Stream, Any]:
        """Return a stream and its first message, END if there is none."""
        try:
            async for attempt in self._patience.attempt(lambda error: isinstance(error, StreamEndedError)):
                with attempt:
                    return await self._opened_once()
        except StreamEndedError as ended:
            raise UnreachableError(f"no stream of the record lasts: {ended}") from ended
        raise AssertionError("the last attempt returns or raises")

    async def _opened_once(self) -> tuple[Stream, Any]:
        stream = self._open(self._request)
        try:
            return stream, await message_or_end(stream, self._patience.silence_seconds)
        except BaseException:
            stream.cancel()
            raise

    def _go_on_behind(self, event: RecordedEvent) -> None:
        if self._request.order == pb.ORDER_NEWEST_FIRST:
            self._request.filter.before_position = event.position
        else:
            self._request.filter.after_position = event.position
