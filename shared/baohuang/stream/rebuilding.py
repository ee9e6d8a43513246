"""Emptying a stream and filling it again from its source, and comparing the two, message by message."""

import asyncio
import secrets
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from nats.aio.client import Client
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

from baohuang.stream.connection import Connect
from baohuang.stream.consumer import message_in
from baohuang.stream.jetstream import ANSWER_SECONDS, EXPECTED_HEADER, JetStream, answers
from baohuang.stream.lease import Lease
from baohuang.stream.port import NO_NUMBER, Message, Number, Source, StreamMissing
from baohuang.stream.publishing import Publisher, source_end
from baohuang.stream.pull import Pull
from baohuang.stream.streams import StreamName

BATCH: Final = 500
_KEEP_SECONDS: Final = 1.0
_FORGET_SECONDS: Final = 30.0
_WAIT_SECONDS: Final = 2.0
"""How long a message that the source has may take to come out of the stream: a relay is a little behind."""


class SourceBehind(Exception):  # noqa: N818 (a finding)
    """A stream has messages that its source has not, and may be the last that has them.

    `in_source` is where the one ends, `in_stream` where the other does.
    """

    def __init__(self, in_source: Number, in_stream: Number) -> None:
        super().__init__(f"the stream ends at {in_stream}, and its source at {in_source}")
        self.in_source: Final = in_source
        self.in_stream: Final = in_stream


@dataclass(frozen=True, slots=True)
class Comparison:
    """How many messages source and stream have, and the first that is missing, or other, in the stream."""

    in_source: Number
    in_stream: Number
    differs_at: Number | None

    @property
    def equal(self) -> bool:
        """Whether the stream is the source."""
        return self.differs_at is None and self.in_source == self.in_stream


async def check_nothing_is_lost(source: Source, name: StreamName, connect: Connect) -> None:
    """See that the source reaches as far as the stream, so that it can be filled again as far as it is filled now.

    Raises SourceBehind if not, StreamError, LogUnavailable.
    """
    async with connect() as client:
        try:
            # In this order: a stream that is being published is never ahead of what its source has afterwards.
            in_stream = await _in_stream(client, name)
        except StreamMissing:
            return
    in_source = await source_end(source, in_stream)
    if in_source < in_stream:
        raise SourceBehind(in_source, in_stream)


async def rebuild(
    source: Source, name: StreamName, lease: Lease, connect: Connect, told: Callable[[Number], None]
) -> Number:
    """Empty the stream, fill it to the source's end, and return how many messages that took; relays stand by.

    What the stream has and the source has not is gone then: `check_nothing_is_lost` comes before.
    `told` is called with the number reached. Raises StreamError, LogUnavailable; LeaseLost if another rebuild began.
    """
    async with connect() as client:
        held = await lease.seize()
        publisher = Publisher(source, JetStream(client, name), BATCH)
        await publisher.begin_anew()
        now = asyncio.get_running_loop().time
        keep_at = now() + _KEEP_SECONDS
        while await publisher.advance():
            told(publisher.number)
            if now() >= keep_at:
                await lease.keep(held, publisher.number)
                keep_at = now() + _KEEP_SECONDS
        await lease.give_back(held, publisher.number)
        told(publisher.number)
        return publisher.number


async def compare(source: Source, name: StreamName, connect: Connect) -> Comparison:
    """Compare every message of the source with the stream's, to its end. Raises StreamError, LogUnavailable."""
    async with connect() as client, _reading(client, name) as reading:
        number = NO_NUMBER
        while messages := await source.read(number, BATCH):
            for message in messages:
                found = await reading.next()
                if found is None or not _same(message, found):
                    return Comparison(await _end(source, number), await _in_stream(client, name), message.number)
            number = messages[-1].number
        return Comparison(number, await _in_stream(client, name), None)


def _same(wanted: Message, found: Message) -> bool:
    return (wanted.number, wanted.subject, wanted.body, dict(wanted.headers)) == (
        found.number,
        found.subject,
        found.body,
        _without_fence(found.headers),
    )


def _without_fence(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name != EXPECTED_HEADER}


async def _end(source: Source, number: Number) -> Number:
    while messages := await source.read(number, BATCH):
        number = messages[-1].number
    return number


async def _in_stream(client: Client, name: StreamName) -> Number:
    return (await JetStream(client, name).end()).number


class _Reading:
    """The stream's messages one after the other, by a consumer of its own that the server forgets by itself."""

    def __init__(self, pull: Pull) -> None:
        self._pull: Final = pull
        self._arrived: deque[Message] = deque()

    async def next(self) -> Message | None:
        """Return the next message, None if none comes in time."""
        if not self._arrived:
            self._arrived.extend(message_in(one) for one in await self._pull.receive())
        return self._arrived.popleft() if self._arrived else None


@asynccontextmanager
async def _reading(client: Client, name: StreamName) -> AsyncIterator[_Reading]:
    consumer = f"comparing-{secrets.token_hex(8)}"
    config = ConsumerConfig(
        name=consumer,
        deliver_policy=DeliverPolicy.ALL,
        ack_policy=AckPolicy.NONE,
        inactive_threshold=_FORGET_SECONDS,
    )
    with answers():
        await JetStreamContext(client, timeout=ANSWER_SECONDS).add_consumer(name.name, config)
    async with Pull(client, name.name, consumer, BATCH, _WAIT_SECONDS) as pull:
        yield _Reading(pull)
