"""A consumer: pulls messages from JetStream, has them applied, and acknowledges what is committed.

    connect ──► make the durable consumer ──► pull ──► apply, in one transaction ──► acknowledge
       ▲                                       ▲                                         │
       │                                       └─────────────────────────────────────────┘
       └──────── any failure: nothing is acknowledged that was not committed ────────────┘

JetStream brings messages at least once and, after a failure, in any order; which of them are applied, and when, is
decided by the checkpoint in the database alone. So any number of replicas may consume under one name. One that is
cancelled applies and acknowledges what it has taken, and gives back what it has not.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

from baohuang.eventlog.port import EventLogError
from baohuang.stream.applying import Alarmed, Applying
from baohuang.stream.connection import Connect
from baohuang.stream.counts import ConsumerCounts
from baohuang.stream.jetstream import ANSWER_SECONDS, JetStream, answers
from baohuang.stream.port import Message, Number, Order, StreamError
from baohuang.stream.pull import Pull
from baohuang.stream.traces import consuming
from baohuang.stream.working import whole

_DOUBLINGS: Final = 10
_log = structlog.get_logger("stream")


@dataclass(frozen=True, slots=True)
class Pace:
    """How many messages are taken at once, and the seconds after which things are done again.

    A pull that brought nothing, a message not acknowledged, one that came too early (for longer each time, up to the
    time of one not acknowledged), everything after a failure.
    """

    batch: int = 100
    pull_seconds: float = 1.0
    ack_seconds: float = 5.0
    early_seconds: float = 0.2
    again_seconds: float = 0.5


class Consumer:
    """Has a subscription's messages applied; `run` it as a task, in as many replicas as you like."""

    def __init__(self, applying: Applying, connect: Connect, pace: Pace | None = None) -> None:
        self._applying: Final = applying
        self._subscription: Final = applying.subscription
        self._connect: Final = connect
        self._pace: Final = pace or Pace()
        self._trouble = ""

    @property
    def counts(self) -> ConsumerCounts:
        """How far it is."""
        return self._applying.counts

    async def run(self) -> None:
        """Consume for ever; whatever fails is tried again. With an alarm it waits until the alarm is taken back."""
        while True:
            try:
                await self._turn()
            except (StreamError, EventLogError, Alarmed) as error:
                self._note(error)
            await asyncio.sleep(self._pace.again_seconds)

    async def _turn(self) -> None:
        """Consume until something fails."""
        await self._applying.reached()
        subscription, pace = self._subscription, self._pace
        async with self._connect() as client:
            await self._make_durable(client)
            async with Pull(
                client, subscription.stream.name, subscription.consumer, pace.batch, pace.pull_seconds
            ) as pull:
                while True:
                    received = await pull.receive()
                    if received:
                        await whole(self._take(client, received))
                    else:
                        await self._see_durable(client)

    async def _take(self, client: Client, received: Sequence[Msg]) -> None:
        """Apply what was received, then acknowledge what is behind the checkpoint and ask for the rest again."""
        with consuming(self._subscription.consumer, [message_in(one) for one in received]) as messages:
            reached = await self._apply(client, messages)
        self._note_reached(received, reached)
        self._note_running()
        with answers():
            for one in received:
                if one.metadata.sequence.stream <= reached:
                    await one.ack()
                else:
                    await one.nak(self._later(one.metadata.num_delivered or 1))

    async def _apply(self, client: Client, messages: Sequence[Message]) -> Number:
        """Apply messages, and those that JetStream has given to somebody else and are missing between them.

        Those are had from the stream by their numbers: to wait until they are delivered again, and meanwhile to give
        back what came too early, would have both come in turns.
        """
        last = max(message.number for message in messages)
        before, reached = None, await self._applying.take(messages)
        while before != reached < last and self._subscription.order is Order.CONTIGUOUS:
            left = [message for message in messages if message.number > reached]
            messages = [*left, *await self._missing(client, left, reached)]
            before, reached = reached, await self._applying.take(messages)
        return reached

    async def _missing(self, client: Client, messages: Sequence[Message], reached: Number) -> Sequence[Message]:
        """Return what is missing between the checkpoint and messages, as far as a batch goes, from the stream."""
        stream = JetStream(client, self._subscription.stream)
        there = {message.number for message in messages}
        wanted = (Number(number) for number in range(reached + 1, min(max(there), reached + self._pace.batch)))
        found = [await stream.at(number) for number in wanted if number not in there]
        return [message for message in found if message is not None]

    def _later(self, delivered: int) -> float:
        """Return the seconds after which a message that came too early is to come again."""
        return min(self._pace.early_seconds * 2.0 ** min(delivered - 1, _DOUBLINGS), self._pace.ack_seconds)

    async def _make_durable(self, client: Client) -> None:
        """Make the durable consumer, or make it anew if it has left out what has to be applied still."""
        context = JetStreamContext(client, timeout=ANSWER_SECONDS)
        stream, name = self._subscription.stream.name, self._subscription.consumer
        with answers():
            found = await context.add_consumer(stream, self._durable())
            acknowledged = found.ack_floor.stream_seq if found.ack_floor else 0
        # Read in this order: what is acknowledged was committed before.
        if not self._applying.fills and acknowledged > await self._applying.reached():
            _log.warning("consumer is behind what it acknowledged and is made anew", consumer=name)
            with answers():
                await context.delete_consumer(stream, name)
                await context.add_consumer(stream, self._durable())

    async def _see_durable(self, client: Client) -> None:
        """See that the durable consumer is still there. Raises StreamMissing."""
        with answers():
            found = await JetStreamContext(client, timeout=ANSWER_SECONDS).consumer_info(
                self._subscription.stream.name, self._subscription.consumer
            )
        self.counts.lag = (found.num_pending or 0) + (found.num_ack_pending or 0)
        if not self.counts.lag:
            self._note_running()

    def _durable(self) -> ConsumerConfig:
        subjects = [self._subscription.stream.of_kind(kind) for kind in self._subscription.kinds]
        return ConsumerConfig(
            durable_name=self._subscription.consumer,
            deliver_policy=DeliverPolicy.ALL,
            ack_policy=AckPolicy.EXPLICIT,
            ack_wait=self._pace.ack_seconds,
            max_ack_pending=10 * self._pace.batch,
            filter_subjects=subjects or None,
        )

    def _note_reached(self, received: Sequence[Msg], reached: Number) -> None:
        """Count what is left, and how old the oldest was when it was applied."""
        waiting = sum(one.metadata.sequence.stream > reached for one in received)
        self.counts.lag = received[-1].metadata.num_pending + waiting
        self.counts.reached = reached
        if waiting < len(received):
            self.counts.delay.add((datetime.now(UTC) - min(one.metadata.timestamp for one in received)).total_seconds())

    def _note_running(self) -> None:
        """Say that it runs: it has applied something, or there is nothing to apply.

        Who merely connects may still be refused what he has to write, again and again.
        """
        if self.counts.running:
            return
        self._trouble = ""
        self.counts.running, self.counts.alarmed = True, False
        _log.info("consumer runs", consumer=self._subscription.consumer)

    def _note(self, error: Exception) -> None:
        """Log a trouble once, until it is over or another one; an alarm is an error."""
        self.counts.running, self.counts.alarmed, self.counts.lag = False, isinstance(error, Alarmed), None
        trouble = f"{type(error).__name__}" if not isinstance(error, Alarmed) else str(error)
        if trouble == self._trouble:
            return
        self._trouble = trouble
        tell = _log.error if isinstance(error, Alarmed) else _log.warning
        tell("consumer waits", consumer=self._subscription.consumer, trouble=type(error).__name__, error=str(error))


def message_in(received: Msg) -> Message:
    """Return the message that came from JetStream: its sequence in the stream is its number."""
    return Message(
        Number(received.metadata.sequence.stream), received.subject, received.data, dict(received.headers or {})
    )
