"""A source that can be counted: messages 1, 2, 3, … of whatever a test wants."""

from collections.abc import Sequence
from typing import Final

from nats.js import JetStreamContext

from baohuang.database.pool import Pool
from baohuang.stream.connection import connect_to
from baohuang.stream.lease import Lease
from baohuang.stream.port import HASH_HEADER, Message, Number
from baohuang.stream.relay import Pace, Relay
from baohuang.stream.streams import StreamName

NUMBERS: Final = StreamName("numbers", "numbers")
FAST: Final = Pace(poll_seconds=0.05, gather_seconds=0.001, keep_seconds=0.2, batch=50)


def number(n: int, word: str = "said") -> Message:
    """Return message n, which says a word."""
    body = f'{{"n":{n},"word":"{word}"}}'.encode()
    return Message(Number(n), NUMBERS.subject("t", "Counted"), body, {HASH_HEADER: f"{word}-{n}"})


class Numbers:
    """A source of numbers, which grows when it is told to."""

    def __init__(self, last: int = 0, word: str = "said") -> None:
        self.messages = [number(n, word) for n in range(1, last + 1)]
        self.read_from: list[int] = []
        self.busy = False

    async def read(self, after: Number, limit: int) -> Sequence[Message]:
        """See `Source.read`; while it is busy it has more at every look."""
        self.read_from.append(after)
        if self.busy:
            self.grow(3)
        return self.messages[after : after + limit]

    def grow(self, more: int, word: str = "said") -> None:
        """Have more messages at the end."""
        last = len(self.messages)
        self.messages += [number(n, word) for n in range(last + 1, last + more + 1)]


def relay_of(source: Numbers, pool: Pool, url: str, lease_seconds: float = 1.0) -> Relay:
    """Return a relay of a source that is quick to look again."""
    return Relay(source, NUMBERS, Lease(pool, "numbers", lease_seconds), connect_to(url, "relay"), FAST)


async def stored(url: str, name: StreamName = NUMBERS) -> list[tuple[int, str, bytes, dict[str, str]]]:
    """Return what a stream holds from its first message to its last: sequence, subject, body, headers."""
    async with connect_to(url, "looking")() as client:
        context = JetStreamContext(client)
        state = (await context.stream_info(name.name)).state
        found = [await context.get_msg(name.name, n) for n in range(state.first_seq, state.last_seq + 1)]
    return [(one.seq or 0, one.subject or "", one.data or b"", dict(one.headers or {})) for one in found]
