"""Writing archives: each file is put in place whole, and stays what it was unless its table has gone on since."""

import enum
import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from baohuang.archive.finished import is_finished
from baohuang.archive.form import ArchiveError, ArchiveWriter, EventLine, TableLine, first_line, read_archive, stored
from baohuang.archive.lines import Line, differing, lines_of, place_of
from baohuang.archive.verifying import head_of
from baohuang.eventlog import chain
from baohuang.eventlog.chain import ChainBroken
from baohuang.eventlog.port import EventReader, Head, StreamId, Version


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
            different = await self._difference(path, kept, head)
        except ArchiveError as error:
            raise NotArchived(f"{path.name} is there, and is no whole archive: {error}") from error
        if different:
            raise NotArchived(f"{path.name} has another record than the log: {different}")
        return kept.version

    async def _difference(self, path: Path, kept: TableLine, head: Head) -> str | None:
        """Tell the first thing in which the log, up to where the file ends, is another than the file."""
        if kept.stream != head.stream_id:
            return f"it is of {kept.stream}"
        if kept.version > head.version:
            return f"the log ends at version {head.version}, and the file at {kept.version}"
        # Of what the head was when the table had not gone on yet, the log keeps the hash, in the event.
        until = head if kept.version == head.version else head_of(kept)
        found = lines_of(self.log, until)
        for line in read_archive(path):
            if different := _compared(line, await anext(found, None)):
                return different
        more = await anext(found, None)
        return None if more is None else f"{place_of(more)} is in the log alone"

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
        tip = chain.start(head.stream_id)
        async for line in lines_of(self.log, head):
            if isinstance(line, EventLine):
                tip = chain.verify(tip, (stored(head.stream_id, line),))
            writer.add(line)
        chain.verify_end(tip, head)


def _compared(kept: Line, found: Line | None) -> str | None:
    if found is None:
        return f"{place_of(kept)} is in the file alone"
    if type(kept) is not type(found) or place_of(kept) != place_of(found):
        return f"{place_of(kept)} is in the file where the log has {place_of(found)}"
    names = differing(kept, found)
    return f"{place_of(kept)} is not the same: {', '.join(names)}" if names else None


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
