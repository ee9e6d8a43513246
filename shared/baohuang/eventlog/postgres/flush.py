"""One flush on the wire: what is sent, and what its answer means.

It goes the quick way if it can and else the other, which settles whatever there is:

    only moves streams on ──► query `advance` ──► one row: all of it is appended
                                     │ no row, or a request accepted before: nothing is written
    anything else ───────────────────┴──► `eventlog.append_dated` ──► a row a command
"""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final, Self

import asyncpg

from baohuang.database.group_commit import Busy, FlushRefused
from baohuang.eventlog.chain import store
from baohuang.eventlog.port import (
    NO_VERSION,
    Appended,
    Duplicate,
    LogBusy,
    LogCorrupted,
    OutcomeUnknown,
    Position,
    Refused,
    StreamId,
    TooEarly,
    TooLate,
    Version,
    VersionConflict,
)
from baohuang.eventlog.postgres.connections import FAILURES, Pool, meaning
from baohuang.eventlog.postgres.group_commit import Linked, Settled
from baohuang.eventlog.postgres.queries import query
from baohuang.eventlog.postgres.unanswered import AtWork, Watch

_CONFIRM: Final = query("confirm")
_PROCESS: Final = query("process")
Row = Any  # asyncpg.Record, which has no types for its columns


class Flusher:
    """Sends flushes over a connection of its own, kept from one to the next; an async context manager.

    Taking one from the pool, giving it back and having the statement looked up costs a third of a small flush.
    """

    def __init__(self, pool: Pool, at_work: AtWork, answer_seconds: float) -> None:
        self._pool: Final = pool
        self._at_work: Final = at_work
        self._answer_seconds: Final = answer_seconds
        self._watch: Watch | None = None
        self._connection: Any = None
        self._advance: Any = None
        self._append: Any = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._watch is not None and self._watch.is_on:
            # A flush is not answered, and nobody waits for it any more.
            self._connection.terminate()
        else:
            await self._let_go()

    async def __call__(self, batch: Sequence[Linked]) -> Sequence[Settled]:
        """Settle a flush in one statement, which is its own transaction; in a second one if the quick one cannot.

        It takes as long as the server works on it. Raises LogBusy if there is no connection, FlushRefused if the server
        refuses the flush as a whole, OutcomeUnknown if the connection is lost while it is under way.
        """
        watch = await self._connect() if self._watch is None or self._is_lost() else self._watch
        try:
            with watch:
                settled = await self._advanced(batch) if only_advances(batch) else ()
                return settled or await self._appended(batch)
        except FAILURES as error:
            await self._let_go()
            raise _failed(error) from error

    async def _advanced(self, batch: Sequence[Linked]) -> Sequence[Settled]:
        """Append all of a flush that only moves streams on; return nothing if nothing was written."""
        try:
            before = await self._advance.fetchval(commands_of(batch), events_of(batch), latest_of(batch))
        except asyncpg.IntegrityConstraintViolationError:
            return ()
        return () if before is None else list(_all_appended(batch, before))

    async def _appended(self, batch: Sequence[Linked]) -> Sequence[Settled]:
        """Settle each command of a flush, whatever it does and whatever becomes of the others. Raises FlushRefused."""
        try:
            rows = await self._append.fetch(*arguments_of(batch))
        except asyncpg.IntegrityConstraintViolationError as error:
            return _refused_at_commit(batch, error)
        settled = [_settled(linked, row) for linked, row in zip(batch, rows, strict=True)]
        if any(isinstance(one, Duplicate) for one in settled):
            await self._connection.execute(_CONFIRM)
        return settled

    def _is_lost(self) -> bool:
        """Tell whether there is no connection, or one that broke: the pool takes that back, and it answers nothing."""
        try:
            return self._connection is None or bool(self._connection.is_closed())
        except asyncpg.InterfaceError:
            return True

    async def _connect(self) -> Watch:
        await self._let_go()
        try:
            async with asyncio.timeout(self._answer_seconds):
                self._connection = await self._pool.acquire()
                self._append = await self._connection.prepare(query("append"))
                self._advance = await self._connection.prepare(query("advance"))
                process = await self._connection.fetchval(_PROCESS)
        except FAILURES as error:
            await self._let_go()
            raise LogBusy(f"no connection: {error}") from error
        self._watch = Watch(self._connection, process, self._at_work, self._answer_seconds)
        return self._watch

    async def _let_go(self) -> None:
        """Give the connection back to the pool, which makes another one if it is broken."""
        connection, self._connection, self._advance, self._append = self._connection, None, None, None
        self._watch = None
        if connection is not None:
            await self._pool.release(connection)


def arguments_of(batch: Sequence[Linked]) -> tuple[Sequence[object], ...]:
    """Write a flush as the arguments of `eventlog.append_dated`."""
    return commands_of(batch), events_of(batch), claims_of(batch), latest_of(batch)


def only_advances(batch: Sequence[Linked]) -> bool:
    """Tell whether a flush only moves streams on that exist and have a deadline, and does nothing with names."""
    return not any(
        command.expected_version == NO_VERSION
        or command.due_at is None
        or command.claims
        or command.releases
        or command.unclaimed
        for command in (linked.command for linked in batch)
    )


def latest_of(batch: Sequence[Linked]) -> list[datetime | None]:
    """Write the moments past which the commands are late, None for never."""
    return [linked.command.not_after for linked in batch]


def commands_of(batch: Sequence[Linked]) -> list[tuple[object, ...]]:
    """Write the commands as the composite type `eventlog.timed_command`."""
    return [
        (
            linked.command.stream_id,
            linked.command.expected_version,
            linked.command.expected_hash,
            len(linked.links),
            linked.links[-1].hash,
            linked.command.actor,
            linked.command.request_id,
            linked.command.request_digest,
            linked.command.recorded_at,
            linked.command.outcome,
            linked.command.summary,
            linked.command.due_at,
            linked.command.not_before,
        )
        for linked in batch
    ]


def events_of(batch: Sequence[Linked]) -> list[tuple[object, ...]]:
    """Write their events as the composite type `eventlog.event`."""
    return [
        (place, link.version, link.type, link.data, link.salt, link.hash)
        for place, linked in enumerate(batch, 1)
        for link in linked.links
    ]


def claims_of(batch: Sequence[Linked]) -> list[tuple[object, ...]]:
    """Write what they do with names as the composite type `eventlog.claim`."""
    return [
        (place, name, use)
        for place, linked in enumerate(batch, 1)
        for use, names in (
            ("released", linked.command.releases),
            ("claimed", linked.command.claims),
            ("unclaimed", linked.command.unclaimed),
        )
        for name in names
    ]


def _all_appended(batch: Sequence[Linked], before: int) -> Iterator[Appended]:
    """Say of each command that it was appended, the first event of the flush after the position `before`."""
    for linked in batch:
        events = store(linked.command, linked.links, Position(before))
        before = events[-1].position
        yield Appended(linked.command.version, linked.links[-1].hash, events[-1].position, events)


def _settled(linked: Linked, row: Row) -> Settled:  # noqa: PLR0911 - one a verdict
    command = linked.command
    match row["settled"]:
        case "appended":
            events = store(command, linked.links, Position(row["position"] - len(linked.links)))
            return Appended(command.version, linked.links[-1].hash, events[-1].position, events)
        case "conflict":
            return VersionConflict(Version(row["version"]), row["hash"])
        case "duplicate":
            return Duplicate(StreamId(row["stream_id"]), Version(row["version"]), row["digest"], row["outcome"])
        case "refused":
            return Refused(row["refused_by"])
        case "early" if command.not_before is not None:
            return TooEarly(command.not_before)
        case "late" if command.not_after is not None:
            return TooLate(command.not_after)
        case "corrupted":
            return LogCorrupted(command.stream_id, Version(row["version"]), command.expected_hash, row["hash"])
        case "busy":
            return Busy.BUSY
        case other:
            raise AssertionError(f"eventlog.append_dated answers {other!r}")


def _refused_at_commit(batch: Sequence[Linked], error: asyncpg.IntegrityConstraintViolationError) -> Sequence[Settled]:
    """Settle a broken deferred constraint: it speaks at the commit, too late to tell whom of several it means."""
    if len(batch) > 1:
        raise FlushRefused(LogBusy(str(error))) from error
    return [Refused(error.constraint_name or "")]


def _failed(error: Exception) -> Exception:
    found = meaning(error)
    return found if isinstance(found, OutcomeUnknown) else FlushRefused(found)
