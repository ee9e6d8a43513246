"""Writing archives: each file is put in place whole, and stays what it was unless its table has gone on since."""

import enum
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

import msgspec

from baohuang.archive.finished import is_finished
from baohuang.archive.form import (
    FORMAT,
    ArchiveError,
    ArchiveWriter,
    TableLine,
    event_line,
    first_line,
    read_archive,
    reply_line,
)
from baohuang.eventlog import chain
from baohuang.eventlog.chain import ChainBroken
from baohuang.eventlog.port import NO_VERSION, Actor, EventReader, Head, RequestId, StoredEvent, StreamId, Version

_PAGE: Final = 1000


class Kept(enum.Enum):
    """What came of archiving a table."""

    WRITTEN = "written"
    WRITTEN_ANEW = "written anew: the table has gone on since"
    THERE = "there already"


class NotArchived(Exception):  # noqa: N818 (a finding)
    """The table was not archived, and a file of it that was there stays as it was; the message says why."""


@dataclass(frozen=True, slots=True)
class Archive:
    """A folder of archives, a file for each table."""

    folder: Path
    log: EventReader

    def path_of(self, stream_id: StreamId) -> Path:
        """Return where a stream's file is, or would be."""
        return self.folder / f"{quote(stream_id, safe='')}.jsonl.gz"

    async def keep(self, stream_id: StreamId) -> Kept:
        """Write a stream's file, unless it is there; durable when this returns.

        Raises NotArchived for a stream that is no finished table, whose chain does not hold, or whose file has another
        record; LogUnavailable, OSError, asyncpg.PostgresError.
        """
        head = await self.log.head(stream_id)
        if head is None or not is_finished(head):
            raise NotArchived("it is not finished" if head else "there is no such table")
        path = self.path_of(stream_id)
        before = await self._kept_before(path, head) if path.exists() else None
        if before == head.version:
            return Kept.THERE
        try:
            await self._write(path, head)
        except ChainBroken as broken:
            raise NotArchived(str(broken)) from broken
        return Kept.WRITTEN if before is None else Kept.WRITTEN_ANEW

    async def _kept_before(self, path: Path, head: Head) -> Version:
        """Return how far the file that is there has the stream, which is what the log has. Raises NotArchived."""
        try:
            kept = first_line(path)
            for _ in read_archive(path):
                pass
        except ArchiveError as error:
            raise NotArchived(f"{path.name} is there, and is no whole archive: {error}") from error
        last = await self.log.read_stream(head.stream_id, Version(kept.version - 1), 1)
        if kept.version > head.version or not last or last[0].hash.hex() != kept.hash:
            raise NotArchived(f"{path.name} has another record than the log: version {kept.version} is not the same")
        return kept.version

    async def _write(self, path: Path, head: Head) -> None:
        new = path.with_name(path.name + ".new")
        try:
            with new.open("wb") as file:
                writer = ArchiveWriter(file)
                await self._write_lines(writer, head)
                writer.close()
                file.flush()
                os.fsync(file.fileno())
            new.replace(path)
        except ChainBroken:
            new.unlink()
            raise
        _sync_folder(self.folder)

    async def _write_lines(self, writer: ArchiveWriter, head: Head) -> None:
        writer.add(TableLine(FORMAT, head.stream_id, head.version, head.hash.hex(), msgspec.Raw(head.summary)))
        commands: dict[tuple[Actor, RequestId], None] = {}
        tip = chain.start(head.stream_id)
        async for event in self._events(head):
            tip = chain.verify(tip, (event,))
            commands[event.actor, event.request_id] = None
            writer.add(event_line(event))
        chain.verify_end(tip, head)
        for actor, request_id in commands:
            reply = await self.log.find_request(actor, request_id)
            if reply is not None and reply.stream_id == head.stream_id:
                writer.add(reply_line(actor, request_id, reply))

    async def _events(self, head: Head) -> AsyncIterator[StoredEvent]:
        """Give the stream's events up to its head; what comes behind it meanwhile is for the next time."""
        version = NO_VERSION
        while version < head.version:
            page = await self.log.read_stream(head.stream_id, version, min(_PAGE, head.version - version))
            if not page:
                return
            for event in page:
                yield event
            version = page[-1].version


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
