"""Whether an archive is the record of what was played, from the file alone: no log is asked."""

from collections.abc import Iterator
from pathlib import Path

from baohuang.archive.form import ArchiveError, EventLine, TableLine, read_archive, stored
from baohuang.audit.findings import Finding
from baohuang.audit.stream import Depth, StreamAudit
from baohuang.eventlog.port import Head


def findings_in(path: Path, depth: Depth = Depth.DECISIONS) -> Iterator[Finding]:
    """Tell what is wrong with the record in a file, as the verification of a log would. Raises ArchiveError."""
    audit: StreamAudit | None = None
    head: Head | None = None
    for line in read_archive(path):
        match line:
            case TableLine():
                head = head_of(line)
                audit = StreamAudit(head.stream_id, depth)
            case EventLine() if audit is not None:
                try:
                    event = stored(audit.tip.stream_id, line)
                except ValueError as error:
                    raise ArchiveError(f"version {line.version}: {error}") from error
                yield from audit.take(event)
            case _:
                pass
    if audit is not None:
        yield from audit.end(head)


def head_of(line: TableLine) -> Head:
    """Return the head that a file gives its stream. Raises ArchiveError."""
    try:
        return Head(line.stream, line.version, bytes.fromhex(line.hash), bytes(line.summary))
    except ValueError as error:
        raise ArchiveError(f"line 1: {error}") from error
