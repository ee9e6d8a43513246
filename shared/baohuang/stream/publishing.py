"""Bringing one stream in line with its source, over one connection to NATS."""

from typing import Final

import structlog

from baohuang.stream.jetstream import End, JetStream
from baohuang.stream.port import NO_NUMBER, Number, OutOfTurn, Source, StreamMissing

_log = structlog.get_logger("stream")


class Publisher:
    """Publishes a source from where its stream ends. All of it raises StreamError and LogUnavailable.

    What the stream itself says is believed, and only until it is checked again; so it does not matter who published
    it, or what becomes of this publisher.
    """

    def __init__(self, source: Source, stream: JetStream, batch: int) -> None:
        """Take `batch` as the most messages that are read and sent at once."""
        self._source: Final = source
        self._stream: Final = stream
        self._batch: Final = batch
        self._number = NO_NUMBER

    @property
    def number(self) -> Number:
        """The number published last."""
        return self._number

    async def begin(self) -> None:
        """Find where the stream ends; make it, or make it anew if it is not the beginning of the source, whole."""
        try:
            end = await self._stream.end()
        except StreamMissing:
            await self._stream.make()
            end = await self._stream.end()
        if not await self._in_line(end):
            _log.warning("stream is not its source's and is made anew", number=end.number, whole=end.whole)
            await self.begin_anew()
        else:
            self._number = end.number

    async def begin_anew(self) -> None:
        """Empty the stream, whatever is in it."""
        await self._stream.remove()
        await self._stream.make()
        self._number = NO_NUMBER

    async def advance(self) -> bool:
        """Publish what the source has next; tell whether it may have more. Raises OutOfTurn."""
        messages = await self._source.read(self._number, self._batch)
        if messages:
            await self._stream.publish(messages)
            self._number = messages[-1].number
        return len(messages) == self._batch

    async def check(self) -> None:
        """See that the stream is still there and ends where it should. Raises OutOfTurn."""
        end = await self._stream.end()
        if end != End(self._number, whole=True):
            raise OutOfTurn(f"the stream ends at {end.number}, and not at {self._number}")

    async def _in_line(self, end: End) -> bool:
        if not end.whole or end.number == NO_NUMBER:
            return end.whole
        last, published = await self._source.read(Number(end.number - 1), 1), await self._stream.at(end.number)
        return bool(last) and published is not None and last[0].hash == published.hash
