"""A backup that was cut off: nothing is lost by it that there still is, whichever command it is given to."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from audit.honest import Play, recorded
from baohuang.eventlog.postgres.log import open_log
from baohuang.rules.state import TableId
from operators.page import commands
from operators.sites import Site, site
from operators.test_restore import ON_THIS_MACHINE, migrated

MANY = 100
"""Events that a hand has, and more."""
NO_SCHEMA = "drop schema if exists eventlog, eventlog_public, history, scoring, rating, matchmaking cascade"


@pytest.fixture
async def played(tmp_path: Path) -> AsyncIterator[Site]:
    """Give a site whose log and stream have the same events, and a backup of it."""
    async with site(tmp_path / "site") as made:
        await migrated(made, "backup")
        async with open_log(made.superuser) as log:
            await recorded(log, Play(TableId("table"), "ourgame-simple", 1), hands=1)
        await made.shell("baohuang rebuild-stream")
        await made.run("backup", BACKUP_DSN=made.dsn_of("backup"))
        yield made


@contextmanager
def cut_off(made: Site, percent: int) -> Iterator[None]:
    """Have the backup end early."""
    backup = made.folder / "backup.dump"
    whole = backup.read_bytes()
    backup.write_bytes(whole[: len(whole) * percent // 100])
    yield
    backup.write_bytes(whole)


async def fails(made: Site, script: str) -> str:
    """Run commands of which one has to fail, so that the last does not come; return what they print."""
    return await made.shell(f"if (\n{script}); then exit 1; fi")


async def stream_is_there(made: Site) -> None:
    """See that NATS has every event still."""
    said = await made.shell("baohuang rebuild-stream --check || true")
    assert int(said.partition("stream")[2].split()[0]) > MANY


async def test_the_pages_commands_stop_before_anything_is_lost(played: Site) -> None:
    """Wherever the file ends: database and stream are as they were, and the whole file is restored afterwards."""
    for percent in (60, 99):
        with cut_off(played, percent):
            for title in ("restore", "restore on a cluster"):
                said = await fails(played, ON_THIS_MACHINE + commands(title))
                assert "could not read from input file: end of file" in said
                assert "up to date" not in said
    assert "the stream is the log" in await played.shell("baohuang rebuild-stream --check")
    said = await played.shell(ON_THIS_MACHINE + commands("restore on a cluster"))
    assert "the stream is the log" in said


async def test_what_comes_after_a_restore_that_did_nothing_is_refused(played: Site) -> None:
    """The page's commands on an empty log under a NATS that was kept: it is called empty, and NATS keeps what it has.

    Who wants it all the same says so, in a word of its own.
    """
    await played.shell(f'psql --quiet --no-psqlrc --dbname="$SUPERUSER_DSN" --command="{NO_SCHEMA}"')
    assert "the log is empty" in await fails(played, commands("after a restore"))
    said = await fails(played, "baohuang rebuild-stream")
    assert re.search(r"the stream has \d{3,} messages, the log 0 events: nothing was changed", said)
    await stream_is_there(played)
    assert "the stream is the log" in await played.shell("baohuang rebuild-stream --give-up-the-rest")


async def test_half_a_database_is_told_in_words(played: Site) -> None:
    """Restored as nobody should, without one transaction, it is told by each command in a line, without a traceback."""
    with cut_off(played, 99):
        await played.shell(f'psql --quiet --no-psqlrc --dbname="$SUPERUSER_DSN" --command="{NO_SCHEMA}"')
        restoring = 'pg_restore --no-owner --role=baohuang_owner --dbname="$SUPERUSER_DSN" backup.dump'
        await fails(played, restoring)
    said = await asyncio.gather(*(fails(played, f"baohuang {name}") for name in ("migrate", "verify", "reconcile")))
    assert said[0].startswith("migrate: cannot bring the database up to date, its schema eventlog: ")
    assert "eventlog.compatibility" in said[0]
    assert "the database was not restored whole" in said[0]
    for printed in said:
        assert len(printed.splitlines()) == 1
        assert "Traceback" not in printed
        assert "SQL" not in printed
    await fails(played, "baohuang rebuild-stream")
    await played.shell(f'psql --quiet --no-psqlrc --dbname="$SUPERUSER_DSN" --command="{NO_SCHEMA}"')
    await played.run("restore")
    await stream_is_there(played)


async def test_a_ledger_without_its_row_is_a_difference(played: Site) -> None:
    """It is named, and nothing is said to be without a difference."""
    await played.shell('psql --quiet --no-psqlrc --dbname="$SUPERUSER_DSN" --command="delete from scoring.progress"')
    said = await fails(played, "baohuang reconcile")
    assert "scoring.progress has no row" in said
    assert "no difference" not in said
