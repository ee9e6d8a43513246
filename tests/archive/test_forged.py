"""Files changed by who knows their form and makes all sums anew: what can be told of them from the file alone, is."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from msgspec import structs

from archive.commands import archived, ran
from baohuang.archive.form import ArchiveWriter, EventLine, ReplyLine, TableLine, read_archive
from baohuang.eventlog.port import Position, RequestId, Version

Line = TableLine | EventLine | ReplyLine


def _cut(lines: Sequence[Line]) -> list[Line]:
    """Take the tail away in the middle of the table, with the replies to it, and end the head there."""
    kept = [line for line in lines if not isinstance(line, TableLine) and line.version <= 60]
    last = max((line for line in kept if isinstance(line, EventLine)), key=lambda line: line.version)
    kept = [line for line in kept if line.version <= last.version]
    (head,) = (line for line in lines if isinstance(line, TableLine))
    return [structs.replace(head, version=last.version, hash=last.hash), *kept]


def _first(kind: type[Line], change: Callable[[Line], Line]) -> Callable[[Sequence[Line]], list[Line]]:
    def forged(lines: Sequence[Line]) -> list[Line]:
        place = next(n for n, line in enumerate(lines) if isinstance(line, kind))
        return [*lines[:place], change(lines[place]), *lines[place + 1 :]]

    return forged


def _summary(change: Callable[[dict[str, object]], None]) -> Callable[[Sequence[Line]], list[Line]]:
    def changed(line: Line) -> Line:
        assert isinstance(line, TableLine)
        summary = msgspec.json.decode(line.summary, type=dict[str, object])
        change(summary)
        return structs.replace(line, summary=msgspec.Raw(msgspec.json.encode(summary)))

    return _first(TableLine, changed)


FORGED: dict[str, tuple[Callable[[Sequence[Line]], list[Line]], str]] = {
    "cut": (_cut, "the table is not finished here"),
    "another outcome": (
        _first(
            ReplyLine, lambda line: structs.replace(line, outcome=msgspec.Raw(b'{"tableId":"table-a","version":9}'))
        ),
        "has another outcome",
    ),
    "another version": (
        _first(ReplyLine, lambda line: structs.replace(line, version=Version(7777))),
        "names version 7777",
    ),
    "another request": (
        _first(ReplyLine, lambda line: structs.replace(line, request_id=RequestId("another"))),
        "which no event comes of",
    ),
    "no replies": (lambda lines: [line for line in lines if not isinstance(line, ReplyLine)], "there is no reply"),
    "a reply twice": (lambda lines: [*lines, lines[-1]], "or a second one"),
    "another summary": (_summary(lambda summary: summary.update(handsPlayed=9)), "the summary is not"),
    "more in the summary": (_summary(lambda summary: summary.update(more=1)), "the summary is not"),
    "no summary": (_summary(lambda summary: summary.clear()), "the summary is not"),
    "a position of another": (
        _first(EventLine, lambda line: structs.replace(line, position=Position(7777))),
        "before its predecessor",
    ),
    "a position below 1": (
        _first(EventLine, lambda line: structs.replace(line, position=Position(0))),
        "before its predecessor",
    ),
}


async def test_a_forged_file(source: str, empty: str, tmp_path: Path) -> None:
    """Each is told by what is wrong with it, with its decisions and by its chain alone; none is restored."""
    (file, *_) = await asyncio.to_thread(archived, source, tmp_path)
    lines = list(read_archive(file))
    for name, (forge, wrong) in FORGED.items():
        forged = tmp_path / f"{name}.jsonl.gz"
        _write(forged, forge(lines))
        for depth in ((), ("--chain-only",)):
            told = await ran("archive", f"--verify={forged}", *depth)
            assert (told.exit_code, wrong in told.output) == (1, True), (name, told.output)
        restored = await ran("unarchive", forged, "--postgres-dsn", empty)
        assert (restored.exit_code, wrong in restored.output) == (1, True), (name, restored.output)


def _write(path: Path, lines: Sequence[Line]) -> None:
    with path.open("wb") as raw:
        writer = ArchiveWriter(raw)
        for line in lines:
            writer.add(line)
        writer.close()
