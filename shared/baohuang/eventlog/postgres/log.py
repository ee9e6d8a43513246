"""The event log on PostgreSQL: appends go through group commit, reads over a pool of their own."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from secrets import token_bytes
from typing import Any, Final

from baohuang.database.group_commit import Pace
from baohuang.eventlog.chain import SALT_BYTES, link
from baohuang.eventlog.port import (
    NO_POSITION,
    NO_VERSION,
    Actor,
    Append,
    ClaimName,
    Current,
    Due,
    Duplicate,
    Head,
    LogUnavailable,
    Outcome,
    Position,
    RequestId,
    StoredEvent,
    StreamId,
    Version,
)
from baohuang.eventlog.postgres.connections import (
    FAILURES,
    Limits,
    Pool,
    open_pool,
    open_reading_pool,
    open_writer,
)
from baohuang.eventlog.postgres.flush import Flusher
from baohuang.eventlog.postgres.group_commit import Linked, LogCommits, log_commits
from baohuang.eventlog.postgres.queries import query
from baohuang.eventlog.postgres.unanswered import asked_over

Row = Any  # asyncpg.Record, which has no types for its columns

_PACE: Final = Pace(turns=4)
"""About as many turns of the event loop as a command takes from its arrival to its append, the next one behind it."""
_HEAD: Final = query("head")
_VERSIONS: Final = query("versions")
_READ_STREAM: Final = query("read_stream")
_READ_SINCE_LAST: Final = query("read_since_last")
_READ_ALL: Final = query("read_all")
_CURRENT: Final = query("current")
_FIND_REQUEST: Final = query("find_request")
_LIST_HEADS: Final = query("list_heads")
_HOLDERS: Final = query("holders")
_CLOCK: Final = query("clock")
_CLAIM_DUE: Final = query("claim_due")
_CONFIRM: Final = query("confirm")


@asynccontextmanager
async def open_log(
    dsn: str, *, readers: int = 4, limits: Limits | None = None, pace: Pace | None = None
) -> AsyncIterator["PostgresLog"]:
    """Open the log of a migrated database with one connection for appends and up to `readers` for reads.

    On the way out what waits is still settled, each command within its patience. A cancelled or failing block drains
    too: its callers may be gone, its flushes are not.

    Raises OSError or asyncpg.PostgresError if the database cannot be reached.
    """
    limits = limits or Limits()
    async with (
        await open_writer(dsn, limits) as writing,
        await open_pool(dsn, readers, limits) as reading,
        Flusher(writing, asked_over(reading), limits.answer_seconds) as flusher,
        log_commits(flusher, pace or _PACE) as commits,
    ):
        yield PostgresLog(commits, reading)


@asynccontextmanager
async def open_reader(dsn: str, *, readers: int = 4, limits: Limits | None = None) -> AsyncIterator["PostgresReader"]:
    """Open the log of a migrated database, or of a replica of it, only to be read.

    Raises OSError or asyncpg.PostgresError if the database cannot be reached.
    """
    async with await open_reading_pool(dsn, readers, limits or Limits()) as reading:
        yield PostgresReader(reading)


class PostgresReader:
    """An `EventReader` on PostgreSQL; made by `open_reader`."""

    def __init__(self, reading: Pool) -> None:
        self._reading: Final = reading

    async def head(self, stream_id: StreamId) -> Head | None:
        """See `EventLog.head`."""
        rows = await self._fetch(_HEAD, stream_id)
        return _head(rows[0]) if rows else None

    async def versions(self, stream_ids: Sequence[StreamId]) -> Mapping[StreamId, Version]:
        """See `EventLog.versions`."""
        return dict(await self._fetch(_VERSIONS, stream_ids))

    async def read_stream(
        self, stream_id: StreamId, after_version: Version = NO_VERSION, limit: int = 1000
    ) -> Sequence[StoredEvent]:
        """See `EventLog.read_stream`."""
        return _events(await self._fetch(_READ_STREAM, stream_id, after_version, limit))

    async def read_since_last(self, stream_id: StreamId, event_type: str) -> Sequence[StoredEvent]:
        """See `EventLog.read_since_last`."""
        return _events(await self._fetch(_READ_SINCE_LAST, stream_id, event_type))

    async def read_all(self, after_position: Position = NO_POSITION, limit: int = 1000) -> Sequence[StoredEvent]:
        """See `EventLog.read_all`."""
        return _events(await self._fetch(_READ_ALL, after_position, limit))

    async def current(self, stream_id: StreamId, actor: Actor, request_id: RequestId) -> Current:
        """See `EventLog.current`."""
        (row,) = await self._fetch(_CURRENT, stream_id, actor, request_id)
        head = Head(stream_id, row["head_version"], row["hash"], row["summary"]) if row["head_stream_id"] else None
        return Current(head, _duplicate(row) if row["stream_id"] else None)

    async def find_request(self, actor: Actor, request_id: RequestId) -> Duplicate | None:
        """See `EventLog.find_request`."""
        rows = await self._fetch(_FIND_REQUEST, actor, request_id)
        return _duplicate(rows[0]) if rows else None

    async def list_heads(self, where: bytes = b"{}", after: StreamId | None = None, limit: int = 100) -> Sequence[Head]:
        """See `EventLog.list_heads`."""
        return tuple(_head(row) for row in await self._fetch(_LIST_HEADS, where, after, limit))

    async def holders(self, names: Sequence[ClaimName]) -> Mapping[ClaimName, StreamId]:
        """See `EventLog.holders`."""
        return dict(await self._fetch(_HOLDERS, names))

    async def clock(self) -> datetime:
        """See `EventLog.clock`."""
        (row,) = await self._fetch(_CLOCK)
        now: datetime = row["now"]
        return now

    async def _fetch(self, text: str, *arguments: object) -> Sequence[Row]:
        try:
            return await self._reading.fetch(text, *arguments)
        except FAILURES as error:
            raise LogUnavailable(f"{type(error).__name__}: {error}") from error


class PostgresLog(PostgresReader):
    """An `EventLog` on PostgreSQL; made by `open_log`."""

    def __init__(self, commits: LogCommits, reading: Pool) -> None:
        super().__init__(reading)
        self._commits: Final = commits

    @property
    def commits(self) -> LogCommits:
        """The flush loop of its appends."""
        return self._commits

    async def append(self, command: Append) -> Outcome:
        """See `EventLog.append`."""
        salts = [token_bytes(SALT_BYTES) for _ in command.events]
        return await self._commits.settled(Linked(command, link(command, salts)))

    async def current(self, stream_id: StreamId, actor: Actor, request_id: RequestId) -> Current:
        """See `EventLog.current`. What it says was stored is where a commit has to be."""
        current = await super().current(stream_id, actor, request_id)
        if current.duplicate is not None:
            await self._fetch(_CONFIRM)
        return current

    async def find_request(self, actor: Actor, request_id: RequestId) -> Duplicate | None:
        """See `EventLog.find_request`. What it says was stored is where a commit has to be."""
        found = await super().find_request(actor, request_id)
        if found is not None:
            await self._fetch(_CONFIRM)
        return found

    async def claim_due(self, limit: int, lease_seconds: float) -> Sequence[Due]:
        """See `EventLog.claim_due`."""
        rows = await self._fetch(_CLAIM_DUE, limit, lease_seconds)
        return tuple(Due(row["stream_id"], row["armed_for_version"], row["due_at"]) for row in rows)


def _head(row: Row) -> Head:
    return Head(row["stream_id"], row["version"], row["hash"], row["summary"])


def _duplicate(row: Row) -> Duplicate:
    return Duplicate(row["stream_id"], row["version"], row["digest"], row["outcome"])


def _events(rows: Sequence[Row]) -> tuple[StoredEvent, ...]:
    # The queries name their columns in the order of StoredEvent's fields.
    return tuple(StoredEvent(*row) for row in rows)
