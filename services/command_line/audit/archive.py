"""`baohuang archive` and `baohuang unarchive`: finished tables as files that prove themselves, and back into a log."""

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import asyncpg
import typer

from baohuang.archive.finished import open_finished
from baohuang.archive.form import ArchiveError
from baohuang.archive.restoring import NotRestored, restore
from baohuang.archive.verifying import findings_in
from baohuang.archive.writing import Archive, Kept, NotArchived
from baohuang.audit.stream import Depth
from baohuang.database.pool import open_connection
from baohuang.eventlog.port import StreamId
from baohuang.eventlog.postgres.log import open_reader
from command_line.audit.asking import DIFFERENT, PostgresDsn, answered
from command_line.dsn import sound_dsn
from command_line.saying import say

OptionalDsn = Annotated[
    str,
    typer.Option(
        "--postgres-dsn",
        envvar="BAOHUANG_POSTGRES_DSN",
        callback=sound_dsn,
        help="the backend's database; not for --verify",
    ),
]
Files = Annotated[list[Path], typer.Argument(exists=True, dir_okay=False, help="files that `baohuang archive` wrote")]


def archive(
    *,
    tables: Annotated[
        list[str] | None, typer.Argument(metavar="[TABLE]...", help="these tables; none: all that are old enough")
    ] = None,
    to: Annotated[
        Path | None, typer.Option(exists=True, file_okay=False, help="the folder of archives, a file for each table")
    ] = None,
    older_than: Annotated[int, typer.Option(min=0, help="days since a table's last event")] = 30,
    verify: Annotated[
        list[Path] | None,
        typer.Option(exists=True, dir_okay=False, help="only tell whether a file is what was played; asks no database"),
    ] = None,
    chain_only: Annotated[bool, typer.Option("--chain-only", help="with --verify: decide nothing again")] = False,
    postgres_dsn: OptionalDsn = "",
) -> None:
    """Copy finished tables, closed or dissolved ones, to files that prove themselves; nothing leaves the log.

    A file that is there is left as it is, unless its table has gone on since. Exits with 1 if a table could not be
    archived, or a file is not what was played; 2 if that cannot be told.
    """
    if verify:
        _verify(verify, Depth.CHAIN if chain_only else Depth.DECISIONS)
    elif to is None:
        raise typer.BadParameter("is needed to write archives", param_hint="--to")
    elif not postgres_dsn:
        raise typer.BadParameter("is needed to write archives", param_hint="--postgres-dsn")
    else:
        answered(_archive(postgres_dsn, to, [StreamId(name) for name in tables or ()], timedelta(days=older_than)))


def unarchive(files: Files, *, postgres_dsn: PostgresDsn) -> None:
    """Put the records of archives back into a log, each at its positions: what is missing of them, and no more.

    As the owner of the database, before services that would append run on it. Exits with 1 if a file is not what was
    played or the log has something else in its place, of which nothing is changed then; 2 if that cannot be told.
    """
    answered(_unarchive(postgres_dsn, files))


async def _archive(dsn: str, folder: Path, wanted: Sequence[StreamId], age: timedelta) -> int:
    counts, wrong = dict.fromkeys(Kept, 0), 0
    async with open_reader(dsn, readers=1) as log, open_finished(dsn) as finished:
        keeping = Archive(folder, log)
        moment = await log.clock() - age
        async for stream_id in _wanted(wanted, finished.before(moment)):
            try:
                kept = await keeping.keep(stream_id)
            except NotArchived as error:
                wrong += 1
                say(f"✗ {stream_id}: not archived: {error}")
                continue
            counts[kept] += 1
            if kept is not Kept.THERE:
                say(f"✓ {keeping.path_of(stream_id)}: {kept.value}")
    say(", ".join(f"{count} {kept.value}" for kept, count in counts.items()) + f"; {wrong} not archived")
    return wrong


async def _wanted(named: Sequence[StreamId], finished: AsyncIterator[StreamId]) -> AsyncIterator[StreamId]:
    if not named:
        async for stream_id in finished:
            yield stream_id
    for stream_id in named:
        yield stream_id


def _verify(files: Sequence[Path], depth: Depth) -> None:
    if sum([_told(file, depth) for file in files]):
        raise typer.Exit(DIFFERENT)


def _told(file: Path, depth: Depth) -> int:
    """Say what is wrong with a file, and how much that is."""
    try:
        findings = list(map(str, findings_in(file, depth)))
    except ArchiveError as error:
        findings = [f"not a whole archive: {error}"]
    for finding in findings:
        say(f"✗ {file}: {finding}")
    if not findings:
        say(f"✓ {file}: nothing is wrong")
    return len(findings)


async def _unarchive(dsn: str, files: Sequence[Path]) -> int:
    wrong = 0
    connection = await open_connection(dsn, "baohuang unarchive")
    try:
        for file in files:
            wrong += await _restored(connection, file)
    finally:
        await connection.close()
    return wrong


async def _restored(connection: asyncpg.Connection, file: Path) -> int:
    if found := _told(file, Depth.CHAIN):
        return found
    try:
        restored = await restore(connection, file)
    except (NotRestored, ArchiveError) as error:
        say(f"✗ {file}: not restored: {error}")
        return 1
    say(f"✓ {file}: {restored.events} events put back, {restored.there} were there")
    return 0
