"""From an archive back into a log: what is missing is put where it was, and what is there has to be the same.

One transaction a file, during which nobody appends: all of a file is restored, or nothing of it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from baohuang.archive.form import EventLine, ReplyLine, TableLine, read_archive, stored
from baohuang.archive.queries import query
from baohuang.archive.verifying import head_of
from baohuang.eventlog.port import NO_POSITION, Actor, Head, Position, RequestId, StoredEvent, StreamId, Version

Connection = PoolConnectionProxy | asyncpg.Connection
_Row = tuple[Position, datetime, Version, StreamId, str, Actor, RequestId, bytes, bytes, bytes]

_BATCH: Final = 500
_LOCK: Final = query("lock_counter")
_RAISE: Final = query("raise_counter")
_HEAD_THERE: Final = query("head_there")
_EVENTS_THERE: Final = query("events_there")
_PUT_EVENT: Final = query("put_event")
_PUT_HEAD: Final = query("put_head")
_PUT_REPLY: Final = query("put_reply")
_OTHER_REPLIES: Final = query("other_replies")


class NotRestored(Exception):  # noqa: N818 (a finding)
    """The log has something else where the file's record belongs; nothing was changed. The message says what."""


@dataclass(frozen=True, slots=True)
class Restored:
    """How many of a file's events were put back, and how many were there."""

    events: int
    there: int


async def restore(connection: asyncpg.Connection, path: Path) -> Restored:
    """Put a file's record back into a migrated log, over a connection of the log's owner.

    Its chain is the caller's to verify before. Raises ArchiveError, NotRestored, asyncpg.PostgresError, OSError.
    """
    try:
        async with connection.transaction():
            await connection.execute("set local synchronous_commit = on")
            await connection.fetchval(_LOCK)
            return await _Restoring(connection).whole(path)
    except asyncpg.UniqueViolationError as error:
        raise NotRestored(f"another event stands where one of these belongs: {error.detail}") from error


@dataclass(frozen=True, slots=True)
class _HeadThere:
    """Where the log ends the stream already."""

    version: Version
    hash: bytes


@dataclass(slots=True)
class _Restoring:
    connection: Connection
    head: Head | None = None
    ends: _HeadThere | None = None
    events: list[StoredEvent] = field(default_factory=list)
    replies: list[ReplyLine] = field(default_factory=list)
    put: int = 0
    there: int = 0
    last: Position = NO_POSITION

    async def whole(self, path: Path) -> Restored:
        for line in read_archive(path):
            match line:
                case TableLine():
                    await self._begin(line)
                case EventLine() if self.head is not None:
                    await self._take(stored(self.head.stream_id, line))
                case ReplyLine():
                    self.replies.append(line)
                case _:
                    pass
        if self.head is not None:
            await self._finish(self.head)
        return Restored(self.put, self.there)

    async def _begin(self, line: TableLine) -> None:
        self.head = head_of(line)
        row: Any = await self.connection.fetchrow(_HEAD_THERE, self.head.stream_id, self.head.summary)
        if row is None:
            return
        self.ends = _HeadThere(row["version"], row["hash"])
        if row["version"] == line.version and row["other_summary"]:
            raise NotRestored(f"the head of {line.stream} is another in the log: summary")

    async def _take(self, event: StoredEvent) -> None:
        if self.ends and event.version == self.ends.version and event.hash != self.ends.hash:
            raise NotRestored(f"the head of {event.stream_id}, at version {event.version}, is another in the log: hash")
        self.last = max(self.last, event.position)
        self.events.append(event)
        if len(self.events) == _BATCH:
            await self._put_events()

    async def _put_events(self) -> None:
        """Put what is missing of some events; what is there has to be the same, whatever its hash says."""
        rows = list(map(_row, self.events))
        there = await self._there(rows)
        missing = [row for row in rows if row[2] not in there]
        await self.connection.executemany(_PUT_EVENT, missing)
        self.put += len(missing)
        self.there += len(there)
        self.events.clear()

    async def _there(self, rows: Sequence[_Row]) -> set[Version]:
        if not rows:
            return set()
        found: Iterable[Any] = await self.connection.fetch(_EVENTS_THERE, *map(list, zip(*rows, strict=True)))
        there = {row["version"]: row["differing"] for row in found}
        for version, names in there.items():
            if names:
                raise NotRestored(f"version {version} of {rows[0][3]} is another event in the log: {', '.join(names)}")
        return set(there)

    async def _finish(self, head: Head) -> None:
        await self._put_events()
        await self.connection.execute(_PUT_HEAD, head.stream_id, head.version, head.hash, head.summary)
        await self._put_replies(head.stream_id)
        await self.connection.execute(_RAISE, self.last)

    async def _put_replies(self, stream_id: str) -> None:
        rows = [
            (reply.actor, reply.request_id, stream_id, reply.version, bytes.fromhex(reply.digest), bytes(reply.outcome))
            for reply in self.replies
        ]
        if not rows:
            return
        await self.connection.executemany(_PUT_REPLY, rows)
        others: Sequence[Any] = await self.connection.fetch(_OTHER_REPLIES, *map(list, zip(*rows, strict=True)))
        for other in others:
            what = f"the reply to {other['actor']}'s request {other['request_id']}"
            raise NotRestored(f"{what} is another in the log: {', '.join(other['differing'])}")


def _row(event: StoredEvent) -> _Row:
    """Return an event's columns as `put_event` and `events_there` take them."""
    return (
        event.position,
        event.recorded_at,
        event.version,
        event.stream_id,
        event.type,
        event.actor,
        event.request_id,
        event.data,
        event.salt,
        event.hash,
    )
