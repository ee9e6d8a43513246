"""Applying messages to a service's own tables, each once and in order, in one transaction with how far it has got."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import asyncpg
import structlog

from baohuang.database.pool import FAILURES, Connection, Pool
from baohuang.eventlog.port import LogUnavailable
from baohuang.stream.checkpoint import Checkpoint, lock
from baohuang.stream.counts import ConsumerCounts
from baohuang.stream.port import Message, Number, Order, Poison, predecessor
from baohuang.stream.streams import StreamName
from baohuang.stream.traces import caused, in_traces_of
from baohuang.tracing import spans

Apply = Callable[[Connection, Sequence[Message]], Awaitable[None]]
"""Writes the effects of messages, which come in order, over a connection in a transaction that the caller ends. Raises
Unprocessable, or whatever else its bugs and the tables' constraints raise, for one that cannot be applied."""

Fill = Callable[[Connection, Number, Number, int], Awaitable[Sequence[Message]]]
"""Reads the consumer's messages after one number and up to another, the first so many of them, from the source; what
is committed counts, so never from a replica that may be behind."""

POISON: Final = (
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
    asyncpg.DataError,
    asyncpg.IntegrityConstraintViolationError,
    asyncpg.RaiseError,
)
"""What says that a message cannot be applied, and does not say that the database cannot be reached."""
_FILLED: Final = 500
"""Messages read from the source at once."""
_log = structlog.get_logger("stream")


@dataclass(frozen=True, slots=True)
class Subscription:
    """What a consumer takes: a stream, whole or some kinds of it, under a name that it keeps for ever.

    `effect` is what the applying is called in traces.
    """

    stream: StreamName
    consumer: str
    kinds: tuple[str, ...] = ()
    order: Order = Order.CONTIGUOUS
    poison: Poison = Poison.PASS
    effect: str = "apply"


class Alarmed(Exception):  # noqa: N818 (a state of the consumer)
    """Something was found that must not be; nothing is consumed until somebody has looked."""


@dataclass(frozen=True, slots=True)
class _Line:
    """Messages to be applied one after the other, or what was found that must not be."""

    messages: tuple[Message, ...] = ()
    alarm: str | None = None


class Applying:
    """Applies what a subscription brings, whatever is redelivered, in whatever order, to however many replicas."""

    def __init__(
        self,
        pool: Pool,
        subscription: Subscription,
        apply: Apply,
        fill: Fill | None = None,
        committed: Callable[[], None] = lambda: None,
    ) -> None:
        """Take a pool whose schema has the consumer's tables.

        With `fill` all is taken from the source, and the stream says only how far; without it messages are taken from
        the stream, and a gap waits for what is missing.

        `committed` is called when messages may have been applied, and all of it is there for others to read.
        """
        self._pool: Final = pool
        self._subscription: Final = subscription
        self._apply: Final = apply
        self._fill: Final = fill
        self._committed: Final = committed
        self.counts: Final = ConsumerCounts()
        self._waits: Final = subscription.poison is Poison.WAIT

    @property
    def subscription(self) -> Subscription:
        """What is applied."""
        return self._subscription

    @property
    def fills(self) -> bool:
        """Whether messages are taken from the source."""
        return self._fill is not None

    async def reached(self) -> Number:
        """Return how far the consumer has got. Raises Alarmed, LogUnavailable."""
        return await self.take(())

    async def take(self, messages: Sequence[Message]) -> Number:
        """Apply of these messages what can be, and return how far the consumer has got.

        Raises Alarmed, and LogUnavailable when the database does not answer: nothing was applied then.
        """
        try:
            async with self._pool.acquire() as connection, connection.transaction():
                checkpoint = await lock(connection, self._subscription.consumer)
                number, alarm = await self._take(checkpoint, sorted(messages, key=lambda message: message.number))
        except FAILURES as error:
            raise LogUnavailable(f"{type(error).__name__}: {error}") from error
        if alarm is not None:
            raise Alarmed(alarm)
        if messages:
            self._committed()
        return number

    async def _take(self, checkpoint: Checkpoint, messages: Sequence[Message]) -> tuple[Number, str | None]:
        if checkpoint.alarm is not None:
            return checkpoint.number, checkpoint.alarm
        line = await self._line(checkpoint, messages)
        if line.alarm is not None:
            await checkpoint.raise_alarm(line.alarm)
            return checkpoint.number, line.alarm
        past = await self._go_past(checkpoint, line.messages)
        if past:
            await checkpoint.move(past)
        return past[-1].number if past else checkpoint.number, None

    async def _line(self, checkpoint: Checkpoint, messages: Sequence[Message]) -> _Line:
        """Leave out what was gone past; what is beyond comes from the source, or ends where one is missing."""
        if alarm := await _changed(
            checkpoint, [message for message in messages if message.number <= checkpoint.number]
        ):
            return _Line(alarm=alarm)
        beyond = [message for message in messages if message.number > checkpoint.number]
        if self._fill is None:
            return _Line(tuple(self._unbroken(beyond, checkpoint.number)))
        return await _of_source(self._fill, checkpoint, beyond) if beyond else _Line()

    def _unbroken(self, messages: Sequence[Message], last: Number) -> Iterator[Message]:
        """Give the messages that follow upon one number and each other."""
        for message in messages:
            if message.number > last and predecessor(message, self._subscription.order) == last:
                last = message.number
                yield message

    async def _go_past(self, checkpoint: Checkpoint, line: Sequence[Message]) -> Sequence[Message]:
        """Apply them together, or one by one if one of them cannot be; return those that are gone past."""
        numbers = [message.number for message in line]
        skipped = await checkpoint.skipped(numbers) if self._waits else frozenset()
        past = line
        if await self._applied(checkpoint, [message for message in line if message.number not in skipped]):
            past = await self._go_past_each(checkpoint, line, skipped)
        if self._waits:
            await checkpoint.settle([message.number for message in past], "applied")
        return past

    async def _go_past_each(
        self, checkpoint: Checkpoint, line: Sequence[Message], skipped: frozenset[Number]
    ) -> Sequence[Message]:
        for place, message in enumerate(line):
            error = None if message.number in skipped else await self._applied(checkpoint, [message])
            if error is not None:
                if await checkpoint.set_aside(message, error) == 1:
                    _log.error(
                        "message set aside", consumer=checkpoint.consumer, number=message.number, error=str(error)
                    )
                if self._waits:
                    return line[:place]
        return line

    async def _applied(self, checkpoint: Checkpoint, messages: Sequence[Message]) -> Exception | None:
        """Apply messages, all or none; return what makes that impossible."""
        if not messages:
            return None
        try:
            with spans.joint(self._subscription.effect, caused(messages), spans.MESSAGES, len(messages)):
                async with checkpoint.connection.transaction():
                    await self._apply(checkpoint.connection, messages)
        except POISON as error:
            return error
        return None


async def _of_source(fill: Fill, checkpoint: Checkpoint, received: Sequence[Message]) -> _Line:
    """Return what the source has up to the last message received, or the first so many of it.

    The stream only says that there is more. So nothing is applied that was forged, or that a log which was restored
    has not any more: a message is published after its commit, and one that the source does not have is an alarm.
    """
    there = await fill(checkpoint.connection, checkpoint.number, received[-1].number, _FILLED)
    through = there[-1].number if len(there) == _FILLED else received[-1].number
    known = {message.number: message.hash for message in there}
    for message in received:
        if message.number <= through and known.get(message.number) != message.hash:
            return _Line(alarm=f"message {message.number} with hash {message.hash} is not in the source")
    return _Line(tuple(in_traces_of(received, there)))


async def _changed(checkpoint: Checkpoint, messages: Sequence[Message]) -> str | None:
    """Return what is wrong with messages that come again: each has to be the one that was gone past."""
    known = await checkpoint.hashes([message.number for message in messages]) if messages else {}
    for message in messages:
        if known.get(message.number) != message.hash:
            before = known.get(message.number, "nothing")
            return f"message {message.number} has hash {message.hash}; {before} was gone past under that number"
    return None
