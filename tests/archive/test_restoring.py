"""Putting archives back: what is missing and nothing else, all of a file or nothing, whatever dies meanwhile."""

import asyncio
import signal
import sys
from pathlib import Path

import asyncpg
import pytest

from archive.commands import archived, every_event, ran
from archive.tables import finished
from audit.honest import found
from baohuang.audit.log import LogAudit
from baohuang.audit.survey import open_survey
from baohuang.eventlog.postgres.log import open_log
from eventually import eventually


async def test_what_was_lost_comes_back(source: str, superuser: asyncpg.Connection, tmp_path: Path) -> None:
    """A stream that was removed, and one whose tail was cut: put back at their places, the rest left as it is."""
    files = await asyncio.to_thread(archived, source, tmp_path)
    events = await every_event(source)
    cut = next(event for event in events if (event.stream_id, event.version) == ("table-c", 30))
    await superuser.execute("""
        delete from eventlog.events where stream_id = 'table-b' or stream_id = 'table-c' and version > 30;
        delete from eventlog.heads where stream_id = 'table-b';
        delete from eventlog.requests where stream_id = 'table-b'
    """)
    await superuser.execute("update eventlog.heads set version = 30, hash = $1 where stream_id = 'table-c'", cut.hash)
    done = await ran("unarchive", *files, "--postgres-dsn", source)
    assert done.exit_code == 0
    assert "table-a.jsonl.gz: 0 events put back" in done.output
    assert await every_event(source) == events
    async with open_log(source) as log, open_survey(source) as survey:
        assert await found(LogAudit(log).whole(survey)) == []


async def test_a_log_that_went_on_without_it(source: str, empty: str, tmp_path: Path) -> None:
    """Where another event has taken a position, nothing of the file is restored, and that is told."""
    (file, *_) = await asyncio.to_thread(archived, source, tmp_path)
    async with open_log(empty) as log:
        await finished(log, "table-d", seed=7)
    before = await every_event(empty)
    refused = await ran("unarchive", file, "--postgres-dsn", empty)
    assert (refused.exit_code, "another event stands where" in refused.output) == (1, True)
    assert await every_event(empty) == before
    async with open_log(empty) as log:
        assert await log.head(before[0].stream_id) is not None
        assert len(await log.list_heads()) == 1


@pytest.mark.parametrize("what", ["event", "reply"])
async def test_a_log_with_another_record(source: str, superuser: asyncpg.Connection, tmp_path: Path, what: str) -> None:
    """Where the log has another event, or another reply, under the same name, it is left alone, and that is told."""
    (file, *_) = await asyncio.to_thread(archived, source, tmp_path)
    await superuser.execute(
        {
            "event": "update eventlog.events set hash = salt || salt where stream_id = 'table-a' and version = 9",
            "reply": "update eventlog.requests set version = 77 where stream_id = 'table-a' and version = 9",
        }[what]
    )
    before = await every_event(source)
    refused = await ran("unarchive", file, "--postgres-dsn", source)
    assert (refused.exit_code, "not restored" in refused.output) == (1, True)
    assert await every_event(source) == before


async def test_killed_while_it_restores(source: str, empty: str, tmp_path: Path) -> None:
    """The events are in and not yet committed when it dies: nothing is there; run again, everything is."""
    files = await asyncio.to_thread(archived, source, tmp_path)
    holder = await asyncpg.connect(empty)
    holding = holder.transaction()
    await holding.start()
    await holder.execute("insert into eventlog.heads (stream_id, version, hash) values ('table-a', 1, '')")
    await killed_waiting(empty, "unarchive", *map(str, files), "--postgres-dsn", empty)
    await holding.rollback()
    await holder.close()

    async def nothing_is_there() -> bool:
        return await every_event(empty) == []

    await eventually(nothing_is_there)
    assert (await ran("unarchive", *files, "--postgres-dsn", empty)).exit_code == 0
    assert await every_event(empty) == await every_event(source)


async def test_killed_while_it_writes(source: str, tmp_path: Path) -> None:
    """A file that was not whole has no name that is taken for one; run again, all files are there, and whole."""
    holder = await asyncpg.connect(source)
    holding = holder.transaction()
    await holding.start()
    await holder.execute("lock table eventlog.requests in access exclusive mode")
    options = ("--to", str(tmp_path), "--older-than", "0", "--postgres-dsn", source)
    await killed_waiting(source, "archive", *options)
    await holding.rollback()
    await holder.close()
    left = sorted(path.name for path in tmp_path.iterdir())  # noqa: ASYNC240 - a few names
    assert left == ["table-a.jsonl.gz.new"]
    files = await asyncio.to_thread(archived, source, tmp_path)
    assert len(files) == 3
    assert (await ran("archive", *(f"--verify={file}" for file in files))).exit_code == 0


async def killed_waiting(dsn: str, *arguments: str) -> None:
    """Run a command in a process of its own until it waits for a lock, and kill it then."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "command_line", *arguments)
    looking = await asyncpg.connect(dsn)

    async def waits() -> bool:
        assert process.returncode is None
        return bool(
            await looking.fetchval("""
                select count(*) from pg_stat_activity
                where datname = current_database() and wait_event_type = 'Lock' and pid <> pg_backend_pid()
            """)
        )

    await eventually(waits, within=60.0)
    process.kill()
    await looking.close()
    assert await process.wait() == -signal.SIGKILL
