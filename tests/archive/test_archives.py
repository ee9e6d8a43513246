"""Finished tables in files, and back into a log: the same events at the same positions, proved from the file alone."""

import asyncio
import gzip
from collections.abc import Callable
from pathlib import Path

import asyncpg
import pytest
from msgspec import structs

from archive.commands import archived, every_event, ran, run
from archive.tables import NAMES, OPEN, unfinished
from audit.honest import found
from baohuang.archive.form import ArchiveWriter, EventLine, read_archive
from baohuang.audit.log import LogAudit
from baohuang.audit.survey import open_survey
from baohuang.eventlog.port import Actor, Duplicate, StreamId
from baohuang.eventlog.postgres.log import open_log


async def test_there_and_back(source: str, empty: str, tmp_path: Path) -> None:
    """Restored into an empty log, all is as it was: events, positions, heads, replies; and it verifies whole."""
    files = await asyncio.to_thread(archived, source, tmp_path)
    assert [file.name for file in files] == [f"{name}.jsonl.gz" for name in NAMES]
    assert (await ran("archive", *(f"--verify={file}" for file in files))).exit_code == 0
    done = await ran("unarchive", *reversed(files), "--postgres-dsn", empty)
    assert done.exit_code == 0, done.output
    events = await every_event(source)
    assert await every_event(empty) == events
    async with open_log(source) as before, open_log(empty) as after, open_survey(empty) as survey:
        for name in NAMES:
            assert await after.head(StreamId(name)) == await before.head(StreamId(name))
        for event in events:
            reply = await after.find_request(event.actor, event.request_id)
            assert isinstance(reply, Duplicate)
            assert reply == await before.find_request(event.actor, event.request_id)
        assert await found(LogAudit(after).whole(survey)) == []
        await unfinished(after)  # the log goes on behind what was restored
        assert (await every_event(empty))[len(events)].position == events[-1].position + 1


async def test_what_is_not_finished_or_too_young_stays(source: str, tmp_path: Path) -> None:
    """A table that is still played at is not archived, asked for by name or not; one younger than asked neither."""
    async with open_log(source) as log:
        await unfinished(log)
    await asyncio.to_thread(archived, source, tmp_path)
    assert not (tmp_path / f"{OPEN}.jsonl.gz").exists()
    asked = await ran("archive", OPEN, "table-none", "--to", tmp_path, "--postgres-dsn", source)
    assert asked.exit_code == 1
    assert f"{OPEN}: not archived: it is not finished" in asked.output
    assert "table-none: not archived: there is no such table" in asked.output
    other = tmp_path / "other"
    other.mkdir()
    young = await ran("archive", "--to", other, "--older-than", "36500", "--postgres-dsn", source)
    assert (young.exit_code, list(other.iterdir())) == (0, [])


def test_the_same_table_gives_the_same_file(source: str, tmp_path: Path) -> None:
    """Byte for byte; and a file that is there is left as it is."""
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
        archived(source, folder)
    for file in first.iterdir():
        assert file.read_bytes() == (second / file.name).read_bytes()
    again = run("archive", "--to", first, "--older-than", "0", "--postgres-dsn", source)
    assert f"{len(NAMES)} there already" in again.output


async def test_a_table_that_went_on_is_written_anew(source: str, superuser: asyncpg.Connection, tmp_path: Path) -> None:
    """Rulings of a finished table can still be reversed: its file is replaced by one that begins as it did."""
    whole = next(event for event in reversed(await every_event(source)) if event.stream_id == NAMES[0])
    shorter = next(event for event in await every_event(source) if event.stream_id == NAMES[0] and event.version == 20)
    await superuser.execute(
        "update eventlog.heads set version = 20, hash = $1 where stream_id = $2", shorter.hash, NAMES[0]
    )
    await superuser.execute(
        "create table kept as select * from eventlog.events where version > 20 and stream_id = 'table-a'"
    )
    await superuser.execute("delete from eventlog.events where version > 20 and stream_id = 'table-a'")
    await asyncio.to_thread(archived, source, tmp_path)
    await superuser.execute("insert into eventlog.events select * from kept")
    await superuser.execute(
        "update eventlog.heads set version = $1, hash = $2 where stream_id = 'table-a'", whole.version, whole.hash
    )
    again = await ran("archive", "--to", tmp_path, "--older-than", "0", "--postgres-dsn", source)
    assert "table-a.jsonl.gz: written anew" in again.output
    assert (await ran("archive", f"--verify={tmp_path / 'table-a.jsonl.gz'}")).exit_code == 0


async def test_a_file_of_another_record_is_kept(source: str, superuser: asyncpg.Connection, tmp_path: Path) -> None:
    """When the log has changed since, or its chain does not hold, the file that is there stays, and that is told."""
    (file, *_) = await asyncio.to_thread(archived, source, tmp_path)
    before = file.read_bytes()
    await superuser.execute(
        "update eventlog.events set hash = salt || salt where stream_id = 'table-a' and version = 20"
    )
    middle = await ran("archive", "--to", tmp_path, "--older-than", "0", "--postgres-dsn", source)
    assert middle.exit_code == 1
    assert "another record than the log: version 20 is not the same: hash" in middle.output
    last = "(select max(version) from eventlog.events where stream_id = 'table-a')"
    await superuser.execute(
        f"update eventlog.events set hash = salt || salt where stream_id = 'table-a' and version = {last}"  # noqa: S608
    )
    refused = await ran("archive", "--to", tmp_path, "--older-than", "0", "--postgres-dsn", source)
    assert refused.exit_code == 1
    assert "another record than the log" in refused.output
    assert file.read_bytes() == before
    file.unlink()
    broken = await ran("archive", "--to", tmp_path, "--older-than", "0", "--postgres-dsn", source)
    assert (broken.exit_code, file.exists()) == (1, False)
    assert "table-a at version 20" in broken.output


CHANGES: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "cut": lambda lines: lines[:-1],
    "cut short": lambda lines: lines[:9],
    "an event left out": lambda lines: [*lines[:9], *lines[10:]],
    "two swapped": lambda lines: [*lines[:9], lines[10], lines[9], *lines[11:]],
    "an event changed": lambda lines: [*lines[:9], lines[9].replace(b'"seat"', b'"seet"', 1), *lines[10:]],
    "another form": lambda lines: [lines[0].replace(b"archive/v1", b"archive/v9"), *lines[1:]],
    "no JSON": lambda lines: [*lines[:9], b"{\n", *lines[10:]],
    "nothing": lambda _: [],
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_changed_file_shows_it(
    source: str, empty: str, tmp_path: Path, change: Callable[[list[bytes]], list[bytes]]
) -> None:
    """Whatever was done to it: verification says so, and nothing of it is restored."""
    (file, *_) = archived(source, tmp_path)
    with gzip.open(file) as packed:
        lines = change(packed.readlines())
    with gzip.open(file, "wb") as packed:
        packed.writelines(lines)
    checked = run("archive", f"--verify={file}")
    assert (checked.exit_code, checked.output[:1]) == (1, "✗")
    restored = run("unarchive", file, "--postgres-dsn", empty)
    assert restored.exit_code == 1
    assert asyncio.run(every_event(empty)) == []


def test_bytes_that_are_no_archive(source: str, tmp_path: Path) -> None:
    """A file cut or changed in its packed bytes, or of something else: told, never taken."""
    (file, *_) = archived(source, tmp_path)
    whole = file.read_bytes()
    for there in (whole[: len(whole) // 2], whole[:100] + b"\0\0\0" + whole[103:], b"", b"PK\x03\x04", whole + whole):
        file.write_bytes(there)
        assert run("archive", f"--verify={file}").exit_code == 1


async def test_a_forged_file_with_a_right_sum(source: str, tmp_path: Path) -> None:
    """Who makes the sum anew has not made the chain anew; who makes that anew does not get past the decisions."""
    (file, *_) = await asyncio.to_thread(archived, source, tmp_path)
    lines = list(read_archive(file))
    place = next(n for n, line in enumerate(lines) if isinstance(line, EventLine) and line.type == "CardsPlayed")
    lines[place] = structs.replace(lines[place], actor=Actor("somebody"))
    with file.open("wb") as raw:
        writer = ArchiveWriter(raw)
        for line in lines:
            writer.add(line)
        writer.close()
    told = await ran("archive", f"--verify={file}")
    assert told.exit_code == 1
    assert "chain: table-a at version" in told.output
