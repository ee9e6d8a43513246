"""What lists are made from: rulings by player, tables' summaries. Changed, it is found, though no hash tells."""

import asyncio
from collections.abc import Iterator

import asyncpg
import pytest

from audit.honest import Play, recorded
from baohuang.audit.findings import Check, Finding
from baohuang.audit.log import LogAudit
from baohuang.audit.survey import open_survey
from baohuang.eventlog.port import EventLog, StreamId
from baohuang.eventlog.postgres.log import PostgresLog, open_log
from baohuang.rules.state import TableId
from databases import Server

TABLE = StreamId("table")


@pytest.fixture(scope="module")
def played_database(postgres_server: Server, template_database: str) -> Iterator[str]:
    """Give the name of a database with a table at which rulings were made, to copy and never to connect to."""
    with postgres_server.database(template_database) as name:
        asyncio.run(play_all(postgres_server.dsn_of(name)))
        yield name


async def play_all(dsn: str) -> None:
    """Play with restless players and lines, until rulings name seats."""
    async with open_log(dsn) as log:
        await recorded(log, Play(TableId(TABLE), "homy-qingdao", 1, restless=0.05), hands=2)


async def verified(log: EventLog, dsn: str) -> list[Finding]:
    """Verify the whole log."""
    async with open_survey(dsn) as survey:
        return [finding async for finding in LogAudit(log).whole(survey)]


async def test_a_line_that_was_taken_from_it(log: PostgresLog, superuser: asyncpg.Connection, dsn: str) -> None:
    """The ruling is named, and who is not told of it; an honest list is found to be so."""
    assert await verified(log, dsn) == []
    row = await superuser.fetchrow("delete from eventlog.rulings_about where ctid = '(0,1)' returning player, position")
    assert row is not None
    place = await superuser.fetchrow("select stream_id, version from eventlog.events where position = $1", row[1])
    (found,) = await verified(log, dsn)
    assert (found.check, (found.stream_id, found.version)) == (Check.LIST, tuple(place or ()))
    assert f"about {row['player']}, and is not in the list" in found.message


@pytest.mark.parametrize("position", [3, 1_000_000])
async def test_a_line_that_was_put_into_it(
    log: PostgresLog, superuser: asyncpg.Connection, dsn: str, position: int
) -> None:
    """Of what is no such ruling, and of what is not there at all; and of a ruling about others."""
    await superuser.execute("insert into eventlog.rulings_about values ('zhao', $1)", position)
    await superuser.execute(
        "insert into eventlog.rulings_about select 'zhao', min(position) from eventlog.rulings_about where position > 3"
    )
    found = await verified(log, dsn)
    assert [one.check for one in found] == [Check.LIST, Check.LIST]
    assert {f"position {position} " in one.message for one in found} == {True, False}


@pytest.mark.parametrize("change", ["'{}'", """summary || '{"handsPlayed": 7}'""", "summary - 'status'"])
async def test_a_changed_summary(log: PostgresLog, superuser: asyncpg.Connection, dsn: str, change: str) -> None:
    """The table is named."""
    await superuser.execute(f"update eventlog.heads set summary = {change} where stream_id = $1", TABLE)  # noqa: S608
    (found,) = await verified(log, dsn)
    assert (found.check, found.stream_id) == (Check.LIST, TABLE)
    assert "summary" in found.message
