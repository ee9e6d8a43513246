"""Taking back the alarm of a consumer: only when its source is what it went past, message by message."""

from collections.abc import Awaitable, Callable, Sequence

from baohuang.stream.checkpoint import Checkpoint
from baohuang.stream.port import NO_NUMBER, Message, Number

Read = Callable[[Number, Number], Awaitable[Sequence[Message]]]
"""Reads the consumer's messages after one number and up to another from its source: the first of them, in order."""


class NotCleared(Exception):  # noqa: N818 (a finding)
    """There is no alarm, or what it tells of is so; its text says which."""


async def clear_alarm(checkpoint: Checkpoint, read: Read) -> str:
    """Take the consumer's alarm back and return what it told; part of the transaction that holds the checkpoint.

    Raises NotCleared, having changed nothing. An alarm over what the stream brings comes again until that is put right.
    """
    if checkpoint.alarm is None:
        raise NotCleared(f"{checkpoint.consumer} has no alarm")
    if (difference := await _difference(checkpoint, read)) is not None:
        raise NotCleared(f"the alarm stays: {difference}")
    await checkpoint.clear_alarm()
    return checkpoint.alarm


async def _difference(checkpoint: Checkpoint, read: Read) -> str | None:
    """Return the first message that source and checkpoint do not both have alike."""
    after, count = NO_NUMBER, 0
    while messages := await read(after, checkpoint.number):
        known = await checkpoint.hashes([message.number for message in messages])
        for message in messages:
            if known.get(message.number) != message.hash:
                return f"the source has another message {message.number} than {checkpoint.consumer} went past"
        after, count = messages[-1].number, count + len(messages)
    passed = await checkpoint.passed()
    return None if count == passed else f"{checkpoint.consumer} went past {passed} messages, and the source has {count}"
