"""Whether an archive is the record of what was played, from the file alone: no log is asked."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from baohuang.archive.ending import EndingAudit
from baohuang.archive.form import ArchiveError, EventLine, ReplyLine, TableLine, read_archive, stored
from baohuang.archive.replies import RepliesAudit
from baohuang.audit.findings import Finding
from baohuang.audit.stream import Depth, StreamAudit
from baohuang.eventlog.port import Head, StoredEvent, StreamId


def findings_in(path: Path, depth: Depth = Depth.DECISIONS) -> Iterator[Finding]:
    """Tell what is wrong with the record in a file. Raises ArchiveError.

    Its events are verified as those of a log are; the table has to be finished, its summary what they come to, and each
    command has to have its reply.
    """
    audits: _Audits | None = None
    for line in read_archive(path):
        match line:
            case TableLine():
                audits = _Audits.of(head_of(line), depth)
            case EventLine() if audits is not None:
                yield from audits.take(_stored(audits.head.stream_id, line))
            case ReplyLine() if audits is not None:
                yield from audits.replies.take(line)
            case _:
                pass
    if audits is not None:
        yield from audits.end()


@dataclass(frozen=True, slots=True)
class _Audits:
    """What a file's lines are held against, together."""

    head: Head
    stream: StreamAudit
    ending: EndingAudit
    replies: RepliesAudit

    @classmethod
    def of(cls, head: Head, depth: Depth) -> Self:
        return cls(head, StreamAudit(head.stream_id, depth), EndingAudit(head), RepliesAudit(head.stream_id))

    def take(self, event: StoredEvent) -> Iterator[Finding]:
        yield from self.stream.take(event)
        self.ending.take(event)
        self.replies.expect(event)

    def end(self) -> Iterator[Finding]:
        yield from self.stream.end(self.head)
        yield from self.ending.end()
        yield from self.replies.end()


def _stored(stream_id: StreamId, line: EventLine) -> StoredEvent:
    try:
        return stored(stream_id, line)
    except ValueError as error:
        raise ArchiveError(f"version {line.version}: {error}") from error


def head_of(line: TableLine) -> Head:
    """Return the head that a file gives its stream. Raises ArchiveError."""
    try:
        return Head(line.stream, line.version, bytes.fromhex(line.hash), bytes(line.summary))
    except ValueError as error:
        raise ArchiveError(f"line 1: {error}") from error
