"""A JetStream stream that holds a source's messages, message n at sequence n; nothing is ever taken out of it.

Every message is published with the number of the one before as its `Nats-Expected-Last-Sequence`, so that the server
itself keeps order and completeness: a publisher that is behind, or was stopped and goes on, is refused, and the same
message published twice is stored once.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from nats.aio.client import Client
from nats.js import JetStreamContext
from nats.js.api import RetentionPolicy, StorageType, StreamConfig
from nats.js.errors import APIError, NoStreamResponseError, NotFoundError

from baohuang.stream.connection import NATS_FAILURES
from baohuang.stream.port import Message, Number, OutOfTurn, StreamMissing, StreamUnavailable
from baohuang.stream.streams import StreamName

ANSWER_SECONDS: Final = 2.0
EXPECTED_HEADER: Final = "Nats-Expected-Last-Sequence"
_WRONG_LAST_SEQUENCE: Final = frozenset({10071, 10164})
"""The server's error codes for a broken expectation."""


@dataclass(frozen=True, slots=True)
class End:
    """Where a stream ends, and whether it has all from 1 to there."""

    number: Number
    whole: bool


class JetStream:
    """One stream over one connection. All of it raises StreamUnavailable."""

    def __init__(self, client: Client, name: StreamName) -> None:
        self._client: Final = client
        self._context: Final = JetStreamContext(client, timeout=ANSWER_SECONDS)
        self._name: Final = name

    async def make(self) -> None:
        """Create the stream if it is not there: on disk, without limits, and nothing can be deleted or purged."""
        with answers():
            await self._context.add_stream(
                StreamConfig(
                    name=self._name.name,
                    subjects=[self._name.all_subjects],
                    retention=RetentionPolicy.LIMITS,
                    storage=StorageType.FILE,
                    num_replicas=self._name.servers,
                    deny_delete=True,
                    deny_purge=True,
                )
            )

    async def remove(self) -> None:
        """Delete the stream with all its messages and consumers, if it is there."""
        try:
            with answers():
                await self._context.delete_stream(self._name.name)
        except StreamMissing:
            return

    async def end(self) -> End:
        """Return where the stream ends. Raises StreamMissing."""
        with answers():
            state = (await self._context.stream_info(self._name.name)).state
        return End(Number(state.last_seq), state.messages == state.last_seq)

    async def at(self, number: Number) -> Message | None:
        """Return the message at a number, None if it is not there."""
        try:
            with answers():
                found = await self._context.get_msg(self._name.name, number)
        except StreamMissing:
            return None
        return Message(number, found.subject or "", found.data or b"", dict(found.headers or {}))

    async def publish(self, messages: Sequence[Message]) -> None:
        """Store messages in order; when this returns the server has them all.

        Only the last one is answered: it can only be stored when all before it are. Raises OutOfTurn, if the stream
        does not end just before the first, and StreamMissing; some of them may be stored then.
        """
        *before, last = messages
        with answers():
            for message in before:
                await self._client.publish(message.subject, message.body, headers=_fenced(message))
        try:
            await self._store(last)
        except OutOfTurn:
            await self._try_next_of(messages)
            raise

    async def _store(self, message: Message) -> None:
        with answers():
            await self._context.publish(message.subject, message.body, headers=_fenced(message))

    async def _try_next_of(self, messages: Sequence[Message]) -> None:
        """Store the first message that is missing, to hear why it is: unanswered, its refusal was heard by nobody.

        Raises StreamUnavailable, if the server's disk is full, say.
        """
        stored = (await self.end()).number
        for message in messages:
            if message.number == stored + 1:
                await self._store(message)


def _fenced(message: Message) -> dict[str, str]:
    return {**message.headers, EXPECTED_HEADER: str(message.number - 1)}


@contextmanager
def answers() -> Iterator[None]:
    """Say what a failed request to JetStream means."""
    try:
        yield
    except (NotFoundError, NoStreamResponseError) as error:
        raise StreamMissing(str(error)) from error
    except APIError as error:
        if error.err_code in _WRONG_LAST_SEQUENCE:
            raise OutOfTurn(str(error)) from error
        raise StreamUnavailable(str(error)) from error
    except NATS_FAILURES as error:
        raise StreamUnavailable(f"{type(error).__name__}: {error}") from error
