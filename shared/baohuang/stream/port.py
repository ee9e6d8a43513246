"""The event stream as relays and consumers see it: what is carried, from where, and what can go wrong.

A source has messages numbered 1, 2, 3, … without holes. Message n of the source is message n of its JetStream stream:
the sequence there *is* the number, which makes every question of order, place and completeness a comparison of two
numbers.

    StreamError
    ├── StreamUnavailable    NATS did not answer in time: try again
    ├── StreamMissing        there is no such stream, or no such consumer: make it
    └── OutOfTurn            the stream does not end where this publisher thought: somebody else published, or removed
"""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, NewType, Protocol

Number = NewType("Number", int)
"""Place of a message in its source and in its stream, from 1; 0 is before the first."""

NO_NUMBER: Final = Number(0)
HASH_HEADER: Final = "Baohuang-Hash"
"""Carries the identity of a message, lower-case hex: another hash under a known number is an alarm."""
PRECEDED_BY_HEADER: Final = "Baohuang-Preceded-By"
"""Carries the number of the last message before this one that a consumer of its kind wants; 0 if there is none."""


class StreamError(Exception):
    """Root of what carrying messages can raise."""


class StreamUnavailable(StreamError):  # noqa: N818 (the tree reads as states of the stream)
    """NATS did not answer in time."""


class StreamMissing(StreamError):  # noqa: N818
    """The stream or the consumer is not there (any more)."""


class OutOfTurn(StreamError):  # noqa: N818
    """The stream does not end where it was thought to end; nothing was published out of order."""


class Unprocessable(ValueError):  # noqa: N818 (a finding about a message)
    """A message that cannot be applied, now or later: raised by who applies it, with the reason as its text."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a source. `body` is JSON; nothing in it, its subject or its headers is hidden from anybody."""

    number: Number
    subject: str
    body: bytes
    headers: Mapping[str, str]

    @property
    def hash(self) -> str:
        """What tells this message from another under the same number: what its source says, else its body's SHA-256."""
        return self.headers.get(HASH_HEADER) or sha256(self.body).hexdigest()


class Source(Protocol):
    """Where a relay's messages come from: the same ones under the same numbers, whenever and whoever reads."""

    async def read(self, after: Number, limit: int) -> Sequence[Message]:
        """Return up to `limit` messages after a number, in order and without holes. Raises LogUnavailable."""


class Order(enum.Enum):
    """How a consumer knows which message has to be applied just before another."""

    CONTIGUOUS = enum.auto()
    """The one with the number before: for a consumer that takes the whole stream."""
    CHAINED = enum.auto()
    """The one that its header `Baohuang-Preceded-By` names: for a consumer of the kinds that settle alone."""


def predecessor(message: Message, order: Order) -> Number | None:
    """Return the number of the message to be applied just before, None if this one does not say."""
    if order is Order.CONTIGUOUS:
        return Number(message.number - 1)
    told = message.headers.get(PRECEDED_BY_HEADER, "")
    return Number(int(told)) if told.isascii() and told.isdigit() else None


class Poison(enum.Enum):
    """What becomes of a message that cannot be applied; it is written to `set_aside` in any case."""

    PASS = enum.auto()
    """Consumption goes on after it; it is driven again by command."""
    WAIT = enum.auto()
    """Consumption waits at it, since the order matters, until it can be applied or an operator skips it."""
