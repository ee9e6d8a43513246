"""A consumer that writes down what it applies, in the order in which it does."""

import asyncio
from collections.abc import Sequence

from nats.aio.client import Client
from nats.js import JetStreamContext

from baohuang.database.pool import Connection, Pool
from baohuang.stream.applying import Applying, Subscription
from baohuang.stream.connection import connect_to
from baohuang.stream.consumer import Consumer, Pace
from baohuang.stream.jetstream import JetStream
from baohuang.stream.port import Message, Number, Poison, StreamError, Unprocessable
from stream.numbers import NUMBERS

WHOLE = Subscription(NUMBERS, "whole")
IN_ORDER = Subscription(NUMBERS, "in-order", poison=Poison.WAIT)
QUICK = Pace(batch=20, pull_seconds=0.3, ack_seconds=1.0, early_seconds=0.02, again_seconds=0.05)


class Writing:
    """Applies messages by writing them down; cannot apply what is `poisonous`, and can be held in the middle."""

    def __init__(self, *poisonous: int) -> None:
        self.poisonous = set(poisonous)
        self.free = asyncio.Event()
        self.free.set()
        self.inside = asyncio.Event()

    async def __call__(self, connection: Connection, messages: Sequence[Message]) -> None:
        """See `Apply`."""
        for message in messages:
            if message.number in self.poisonous:
                raise Unprocessable(f"{message.number} is poisonous")
            await connection.execute(
                "insert into effects (number, body) values ($1, $2)", message.number, message.body.decode()
            )
        self.inside.set()
        await self.free.wait()


def consumer_of(
    pool: Pool, url: str, apply: Writing | None = None, subscription: Subscription = WHOLE, pace: Pace = QUICK
) -> Consumer:
    """Return one replica of a consumer."""
    return Consumer(Applying(pool, subscription, apply or Writing()), connect_to(url, "consumer"), pace)


async def effects(pool: Pool) -> list[int]:
    """Return the numbers of what was applied, in the order in which it was."""
    return [row["number"] for row in await pool.fetch("select number from effects order by place")]


async def reached(pool: Pool, number: int, consumer: str = "whole") -> bool:
    """Tell whether a consumer has got that far."""
    return bool(await pool.fetchval("select number >= $2 from checkpoints where consumer = $1", consumer, number))


async def publish(url: str, messages: Sequence[Message]) -> None:
    """Put messages into their stream, making it if need be."""
    async with connect_to(url, "publishing")() as client:
        stream = JetStream(client, NUMBERS)
        await stream.make()
        await stream.publish(messages)


async def unacknowledged(url: str, consumer: str = "whole") -> int:
    """Return how many messages the server has still to hear of from a consumer; -1 when it cannot tell."""
    try:
        async with connect_to(url, "looking")() as client:
            return await _unacknowledged(client, consumer)
    except StreamError:
        return -1


async def _unacknowledged(client: Client, consumer: str) -> int:
    info = await JetStreamContext(client).consumer_info(NUMBERS.name, consumer)
    return (info.num_pending or 0) + (info.num_ack_pending or 0)


def numbered(messages: Sequence[Message]) -> list[Number]:
    """Return the numbers of messages."""
    return [message.number for message in messages]
