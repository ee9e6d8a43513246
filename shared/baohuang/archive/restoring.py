"""From an archive back into a log: what is missing is put where it was, and what is there has to be the same.

One transaction a file, during which nobody appends: all of a file is restored, or nothing of it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from baohuang.archive.form import EventLine, ReplyLine, TableLine, read_archive, stored
from baohuang.archive.queries import query
from baohuang.archive.verifying import head_of
from baohuang.eventlog.port import NO_POSITION, Head, Position, StoredEvent, Version

Connection = PoolConnectionProxy | asyncpg.Connection

_BATCH: Final = 500
_LOCK: Final = query("lock_counter")
_RAISE: Final = query("raise_counter")
_EVENTS_OF: Final = query("events_of")
_PUT_EVENT: Final = query("put_event")
_PUT_HEAD: Final = query("put_head")
_PUT_REPLY: Final = query("put_reply")
_REPLIES_OF_OTHERS: Final = query("replies_of_others")


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


@dataclass(slots=True)
class _Restoring:
    connection: Connection
    head: Head | None = None
    there: dict[Version, tuple[Position, bytes]] = field(default_factory=dict)
    events: list[StoredEvent] = field(default_factory=list)
    replies: list[ReplyLine] = field(default_factory=list)
    put: int = 0
    last: Position = NO_POSITION

    async def whole(self, path: Path) -> Restored:
        found = 0
        for line in read_archive(path):
            match line:
                case TableLine():
                    await self._begin(line)
                case EventLine() if self.head is not None:
                    event = stored(self.head.stream_id, line)
                    self.last = max(self.last, event.position)
                    if self._is_there(event):
                        found += 1
                    else:
                        await self._put(event)
                case ReplyLine():
                    self.replies.append(line)
                case _:
                    pass
        await self._put_events()
        await self._finish()
        return Restored(self.put, found)

    async def _begin(self, line: TableLine) -> None:
        self.head = head_of(line)
        rows: Iterable[Any] = await self.connection.fetch(_EVENTS_OF, self.head.stream_id)
        self.there = {row["version"]: (row["position"], row["hash"]) for row in rows}

    def _is_there(self, event: StoredEvent) -> bool:
        found = self.there.get(event.version)
        if found is not None and found != (event.position, event.hash):
            raise NotRestored(f"version {event.version} of {event.stream_id} is another event in the log")
        return found is not None

    async def _put(self, event: StoredEvent) -> None:
        self.events.append(event)
        if len(self.events) == _BATCH:
            await self._put_events()

    async def _put_events(self) -> None:
        rows = [
            (
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
            for event in self.events
        ]
        await self.connection.executemany(_PUT_EVENT, rows)
        self.put += len(rows)
        self.events.clear()

    async def _finish(self) -> None:
        if self.head is None:
            return
        stream_id = self.head.stream_id
        await self.connection.execute(_PUT_HEAD, stream_id, self.head.version, self.head.hash, self.head.summary)
        await self._put_replies(stream_id)
        await self.connection.execute(_RAISE, self.last)

    async def _put_replies(self, stream_id: str) -> None:
        rows = [
            (reply.actor, reply.request_id, stream_id, reply.version, bytes.fromhex(reply.digest), bytes(reply.outcome))
            for reply in self.replies
        ]
        await self.connection.executemany(_PUT_REPLY, rows)
        actors, requests, _, versions, digests, _ = map(list, zip(*rows, strict=True)) if rows else ([],) * 6
        others = await self.connection.fetch(_REPLIES_OF_OTHERS, actors, requests, versions, digests, stream_id)
        if others:
            raise NotRestored(f"the request {others[0]['request_id']} of {others[0]['actor']} was another command")
