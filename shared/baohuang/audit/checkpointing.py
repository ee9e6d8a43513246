"""Making checkpoints of a log, and holding the log against them."""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
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
    """Tell if the streams do not end, at that position, where the checkpoint says; which ones, only its file tells."""
    root, said = await _root_at(survey, checkpoint.statement.position), checkpoint.statement
    if root.streams != said.streams:
        yield _of(checkpoint, f"{root.streams} streams reach back to it, {said.streams} were signed")
    elif root.value != said.root:
        yield _of(checkpoint, "some of its streams do not end as was signed; its file, with --checkpoints, names them")


async def check_kept(
    survey: Survey, checkpoint: Checkpoint, ends: Callable[[], Iterable[StreamEnd]], keys: Keys
) -> AsyncIterator[Finding]:
    """Tell where the log is not what a checkpoint that was kept elsewhere says it was.

    `ends` gives what was kept with it, each time from the first on. What is not what was signed says nothing of the
    log: then that alone is told.
    """
    if flaw := checkpoint.flaw(keys) or _flaw_of_ends(checkpoint, ends()):
        yield _of(checkpoint, f"the file is not to be trusted, so the log was not held against it: {flaw}")
        return
    if await survey.checkpoint_at(checkpoint.statement.position) != checkpoint:
        yield _of(checkpoint, "the log does not hold it any more")
    named = False
    for batch in _batches(ends()):
        async for finding in _check_ends(survey, batch):
            named = True
            yield finding
    if not named:
        async for finding in check_root(survey, checkpoint):
            yield finding


def _flaw_of_ends(checkpoint: Checkpoint, ends: Iterable[StreamEnd]) -> str:
    """Return why the lines are not those that the root was made over, nothing if they are."""
    root = Root()
    for end in ends:
        root.add(end)
    same = (root.streams, root.value) == (checkpoint.statement.streams, checkpoint.statement.root)
    return "" if same else "the streams in it are not those that were signed"


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
