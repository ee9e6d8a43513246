"""Bringing one stream in line with its source, over one connection to NATS."""

from collections.abc import Sequence
from typing import Final

import structlog

from baohuang.stream.jetstream import End, JetStream
from baohuang.stream.port import NO_NUMBER, Message, Number, OutOfTurn, Source, StreamMissing
from baohuang.stream.traces import Traces

_log = structlog.get_logger("stream")


class Publisher:
    """Publishes a source from where its stream ends. All of it raises StreamError and LogUnavailable.

    What the stream itself says is believed, and only until it is checked again; so it does not matter who published
    it, or what becomes of this publisher. A source that ends before its stream, or goes on from another past, was
    restored to an earlier state, or failed over without its end, or somebody forged messages: that is told.
    """

    def __init__(self, source: Source, stream: JetStream, batch: int, traces: Traces | None = None) -> None:
        """Take `batch` as the most messages that are read and sent at once, `traces` as those that they belong to."""
        self._source: Final = source
        self._stream: Final = stream
        self._batch: Final = batch
        self._traces: Final = traces or Traces()
        self._number = NO_NUMBER
        self._hash = ""

    @property
    def number(self) -> Number:
        """The number published last."""
        return self._number

    async def begin(self) -> int:
        """Find where the stream ends; make it, or make it anew if it is not the beginning of the source, whole.

        Return how many messages it had beyond the source's end, 0 if that was not why.
        """
        try:
            end = await self._stream.end()
        except StreamMissing:
            await self._stream.make()
            end = await self._stream.end()
        published = await self._in_line(end)
        if published is not None:
            self._number, self._hash = end.number, published
            return 0
        beyond = end.number - await source_end(self._source, end.number)
        _tell(end, beyond)
        await self.begin_anew()
        return beyond

    async def begin_anew(self) -> None:
        """Empty the stream, whatever is in it."""
        await self._stream.remove()
        await self._stream.make()
        self._number, self._hash = NO_NUMBER, ""

    async def advance(self) -> bool:
        """Publish what the source has next; tell whether it may have more.

        Raises OutOfTurn, also when the source does not have any more what was published last, or has another.
        """
        messages = await self._next()
        if messages:
            with self._traces.publishing(messages) as carrying:
                await self._stream.publish(carrying)
            self._number, self._hash = messages[-1].number, messages[-1].hash
        return len(messages) == self._batch

    async def check(self) -> None:
        """See that the stream is still there and ends where it should. Raises OutOfTurn."""
        end = await self._stream.end()
        if end != End(self._number, whole=True):
            raise OutOfTurn(f"the stream ends at {end.number}, and not at {self._number}")

    async def _next(self) -> Sequence[Message]:
        """Return what follows upon the message published last, which is read with it: a source may go back."""
        if self._number == NO_NUMBER:
            return await self._source.read(NO_NUMBER, self._batch)
        last, *messages = await self._source.read(Number(self._number - 1), self._batch + 1) or (None,)
        if last is None or last.hash != self._hash:
            raise OutOfTurn(f"message {self._number}, which was published, is not in the source any more")
        return messages

    async def _in_line(self, end: End) -> str | None:
        """Return the hash of the stream's last message if the stream is the source's beginning: "" if it is empty."""
        if not end.whole:
            return None
        if end.number == NO_NUMBER:
            return ""
        last, published = await self._source.read(Number(end.number - 1), 1), await self._stream.at(end.number)
        return published.hash if last and published is not None and last[0].hash == published.hash else None


async def source_end(source: Source, most: Number) -> Number:
    """Return the number of a source's last message, or `most` if it has that one, in few questions.

    Raises LogUnavailable.
    """
    least = NO_NUMBER
    while least < most:
        middle = Number((least + most) // 2)
        if await source.read(middle, 1):
            least = Number(middle + 1)
        else:
            most = middle
    return least


def _tell(end: End, beyond: int) -> None:
    if beyond:
        _log.error(
            "source ends before its stream, which is made anew",
            number=end.number,
            source_ends_at=end.number - beyond,
            whole=end.whole,
        )
    else:
        _log.warning("stream is not its source's and is made anew", number=end.number, whole=end.whole)
