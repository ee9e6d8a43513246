"""Moments that no calendar of a program holds, positions where no log reaches, no counter: found, the rest as well."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import asyncpg
import pytest
from msgspec import Raw, structs

from archive.commands import ran
from audit.forging import Forger, first_of
from audit.honest import Play, banned, recorded
from baohuang.archive.form import ArchiveWriter, TableLine, event_line
from baohuang.audit.explaining import explain
from baohuang.audit.findings import Check, Finding
from baohuang.audit.log import LogAudit
from baohuang.audit.survey import open_survey
from baohuang.eventlog.port import EventLog, StreamId, Version
from baohuang.eventlog.postgres.log import PostgresLog, open_log
from baohuang.history.reader import open_history
from baohuang.history.sought import EventsSought, RulingsSought
from baohuang.rules import events as ev
from baohuang.rules.state import TableId
from databases import Server

TABLE = StreamId("table")
BANS = StreamId("player:an")
CHANGED = 20


@pytest.fixture(scope="module")
def played_database(postgres_server: Server, template_database: str) -> Iterator[str]:
    """Give the name of a database with a table and a player's bans, to copy and never to connect to."""
    with postgres_server.database(template_database) as name:
        asyncio.run(play_all(postgres_server.dsn_of(name)))
        yield name


async def play_all(dsn: str) -> None:
    """Play a hand and ban a player."""
    async with open_log(dsn) as log:
        await recorded(log, Play(TableId(TABLE), "ourgame-simple", 1), hands=1)
        await banned(log, "an", 3)


async def verified(log: EventLog, dsn: str) -> list[Finding]:
    """Verify the whole log."""
    async with open_survey(dsn) as survey:
        return [finding async for finding in LogAudit(log).whole(survey)]


@pytest.mark.parametrize(
    "moment", ["infinity", "-infinity", "9999-12-31 23:59:59+00", "20000-01-01 00:00+00", "0044-01-01 00:00+00 BC"]
)
async def test_a_moment_beyond_the_calendar(
    log: PostgresLog, superuser: asyncpg.Connection, dsn: str, moment: str
) -> None:
    """It is found where it stands, what was done to another stream is found too, and everything can still be read."""
    await superuser.execute(
        "update eventlog.events set recorded_at = $2::text::timestamptz where version = 20 and stream_id = $1",
        TABLE,
        moment,
    )
    await superuser.execute("update eventlog.events set actor = 'x' where version = 2 and stream_id = $1", BANS)
    places = [(one.check, one.stream_id, one.version) for one in await verified(log, dsn)]
    assert (Check.CHAIN, BANS, 2) in places
    assert (Check.CHAIN, TABLE, CHANGED) in places
    async with open_history(dsn) as history:
        assert len(await history.events(EventsSought(stream_id=TABLE), limit=CHANGED + 1)) == CHANGED + 1
        assert await history.rulings(RulingsSought())
        assert await history.hand_until(TABLE, Version(CHANGED))
    assert (await explain(log, BANS, Version(1))).follows
    async with open_survey(dsn) as survey:
        assert await survey.position_at(await survey.clock() + timedelta(days=1)) > 0


async def test_the_last_moment_with_hashes_made_anew(log: PostgresLog, superuser: asyncpg.Connection, dsn: str) -> None:
    """No deadline can be told from it, so nothing follows: that is found, and no more is made of it."""
    events = await log.read_stream(TABLE, limit=100_000)
    place = first_of(events, ev.CardsPlayed)
    late = structs.replace(events[place], recorded_at=datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC))
    await Forger(superuser, log).rewrite(TABLE, lambda events: [*events[:place], late, *events[place + 1 :]])
    (found,) = [one for one in await verified(log, dsn) if one.stream_id == TABLE]
    assert (found.check, found.version) == (Check.COMMAND, events[place].version)
    assert "it cannot be decided" in found.message


@pytest.mark.parametrize("moment", ["9999-12-31T23:59:59.000000Z", "9999-12-31T23:59:59", "2026-01-01T00:00:00+05:00"])
async def test_such_a_moment_in_an_archive(log: PostgresLog, tmp_path: Path, moment: str) -> None:
    """The version is named, whatever form the moment has."""
    path, head = tmp_path / "table.jsonl.gz", await log.head(TABLE)
    assert head is not None
    with path.open("wb") as file:
        writer = ArchiveWriter(file)
        writer.add(TableLine("baohuang/archive/v1", TABLE, head.version, head.hash.hex(), Raw(head.summary)))
        for event in await log.read_stream(TABLE, limit=100_000):
            line = event_line(event)
            writer.add(structs.replace(line, recorded_at=moment) if event.version == CHANGED else line)
        writer.close()
    told = await ran("archive", f"--verify={path}")
    assert told.exit_code == 1
    assert f"version {CHANGED}" in told.output


async def test_no_counter(log: PostgresLog, superuser: asyncpg.Connection, dsn: str) -> None:
    """Its removal is told, and holes are found without it."""
    await superuser.execute("delete from eventlog.counter")
    assert [(one.check, one.message) for one in await verified(log, dsn)] == [
        (Check.POSITIONS, "the counter of positions was removed")
    ]
    await superuser.execute("delete from eventlog.events where stream_id = $1 and version = 20", TABLE)
    assert "no event stands at 20" in [one.message for one in await verified(log, dsn)]


_PUT = """
    insert into eventlog.events
    select $1, recorded_at, 1, 'player:bo', type, actor, 'forged', data, salt, hash
    from eventlog.events where stream_id = 'player:an' and version = 1
"""


@pytest.mark.parametrize("position", [-1, 0, 1_000_000])
async def test_an_event_where_the_log_does_not_reach(
    log: PostgresLog, superuser: asyncpg.Connection, dsn: str, position: int
) -> None:
    """An event in a stream without a head, before the first position or behind the counter's: the stream is named."""
    await superuser.execute(_PUT, position)
    (found,) = await verified(log, dsn)
    assert (found.check, found.stream_id, found.version) == (Check.POSITIONS, "player:bo", 1)
    assert f"it stands at {position}, " in found.message
