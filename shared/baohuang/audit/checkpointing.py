"""Making checkpoints of a log, and holding the log against them."""

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Final

import jwt

from baohuang.audit.checkpoints import Checkpoint, Root, Statement, StreamEnd, after
from baohuang.audit.findings import Check, Finding
from baohuang.audit.signing import SigningKey
from baohuang.audit.survey import Survey
from baohuang.eventlog.port import NO_HASH, NO_VERSION, Position, StreamId
from baohuang.rpc.keys import KeyId

_BATCH: Final = 500
_WHOLE_LOG: Final = StreamId("")

Keys = Mapping[KeyId, jwt.PyJWK]


async def make(survey: Survey, key: SigningKey, now: datetime) -> Checkpoint | None:
    """Sign and store where every stream ends; None if nothing was appended since the last checkpoint.

    Raises asyncpg.UniqueViolationError if another checkpoint was made meanwhile; asyncpg.PostgresError, OSError.
    """
    last = await survey.last_checkpoint()
    counted, stored = await survey.last_position()
    position = stored if counted is None else counted
    if last is not None and position <= last.statement.position:
        return None
    root = await _root_at(survey, position)
    statement = Statement(position, now, root.streams, root.value, after(last), key.key_id)
    checkpoint = key.sign(statement)
    await survey.put_checkpoint(checkpoint)
    return checkpoint


async def check_stored(survey: Survey, keys: Keys) -> AsyncIterator[Finding]:
    """Tell what is wrong with the log's own checkpoints: signatures, their order, and the root of the last."""
    last: Checkpoint | None = None
    async for checkpoint in survey.checkpoints():
        if checkpoint.statement.previous != after(last):
            yield _of(checkpoint, "the one before it was removed or changed")
        for finding in _signature(checkpoint, keys):
            yield finding
        last = checkpoint
    if last is not None:
        async for finding in check_root(survey, last):
            yield finding


async def check_root(survey: Survey, checkpoint: Checkpoint) -> AsyncIterator[Finding]:
    """Tell if the streams do not end, at that position, where the checkpoint says."""
    root = await _root_at(survey, checkpoint.statement.position)
    if (root.streams, root.value) != (checkpoint.statement.streams, checkpoint.statement.root):
        yield _of(
            checkpoint, f"the log up to it is another: {root.streams} streams, {checkpoint.statement.streams} then"
        )


async def check_kept(
    survey: Survey, checkpoint: Checkpoint, ends: Iterable[StreamEnd], keys: Keys
) -> AsyncIterator[Finding]:
    """Tell what is wrong with a checkpoint that was kept elsewhere, and where the log is not what it says it was."""
    for finding in _signature(checkpoint, keys):
        yield finding
    root = Root()
    for batch in _batches(ends):
        for end in batch:
            root.add(end)
        async for finding in _check_ends(survey, batch):
            yield finding
    if (root.streams, root.value) != (checkpoint.statement.streams, checkpoint.statement.root):
        yield _of(checkpoint, "the streams that were kept with it are not those that were signed")
    if await survey.checkpoint_at(checkpoint.statement.position) != checkpoint:
        yield _of(checkpoint, "the log does not hold it any more")
    async for finding in check_root(survey, checkpoint):
        yield finding


async def _check_ends(survey: Survey, batch: list[StreamEnd]) -> AsyncIterator[Finding]:
    """Tell which streams are gone, shorter than they were, or others."""
    found = await survey.hashes_of(batch)
    for end in batch:
        hash_, ends_at = found[end.stream_id, end.version]
        if hash_ == end.hash:
            continue
        if ends_at is None:
            message = f"the stream was removed: it had {end.version} events"
        elif hash_ == NO_HASH:
            message = f"events are missing: the stream ended at version {end.version}, it has {ends_at} as its last"
        else:
            message = "the stream was made anew: this event had another hash"
        yield Finding(Check.CHECKPOINT, end.stream_id, end.version, message)


def _signature(checkpoint: Checkpoint, keys: Keys) -> Iterator[Finding]:
    if flaw := checkpoint.flaw(keys):
        yield _of(checkpoint, flaw)


def _of(checkpoint: Checkpoint, message: str) -> Finding:
    place = f"the checkpoint at position {checkpoint.statement.position}: "
    return Finding(Check.CHECKPOINT, _WHOLE_LOG, NO_VERSION, place + message)


async def _root_at(survey: Survey, position: Position) -> Root:
    root = Root()
    async for end in survey.ends_at(position):
        root.add(end)
    return root


def _batches(ends: Iterable[StreamEnd]) -> Iterator[list[StreamEnd]]:
    batch: list[StreamEnd] = []
    for end in ends:
        batch.append(end)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
