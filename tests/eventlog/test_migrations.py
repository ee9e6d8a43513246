"""The schema's migrations, from nothing and again."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from pathlib import Path
from secrets import token_bytes
from typing import Any

import asyncpg
import psycopg
import pytest
from msgspec.structs import replace

from baohuang.database.migrations import role_script
from baohuang.eventlog import chain
from baohuang.eventlog.port import Append, Head, NewEvent, StreamId
from baohuang.eventlog.postgres import migrations
from baohuang.eventlog.postgres.connections import Limits, Pool, open_pool
from baohuang.eventlog.postgres.flush import commands_of, events_of
from baohuang.eventlog.postgres.group_commit import Linked
from baohuang.eventlog.postgres.log import PostgresLog, open_log
from baohuang.eventlog.postgres.migrations import migrate
from databases import Server
from eventlog.commands import NOON, accepted, after, command, new_name, new_stream
from eventlog.processes import run_module


async def test_four_replicas_start_at_once_on_an_empty_database(postgres_server: Server) -> None:
    """One of them migrates, all of them serve."""
    with postgres_server.database() as name:
        dsn = postgres_server.dsn_of(name)
        printed = await asyncio.gather(*(run_module("eventlog.starting_replica", dsn) for _ in range(4)))
        assert sorted(printed) == ["1", "2", "3", "4"]
        connection = await asyncpg.connect(dsn)
        assert await connection.fetchval("select count(*) from eventlog.alembic_version") == 1
        await connection.close()


def test_migrating_again_changes_nothing(database_dsn: str) -> None:
    """A database that is up to date is left as it is, with what is in it."""
    look = """
        select c.oid, c.relname, c.relfilenode, c.relacl::text from pg_class c
        where c.relnamespace = 'eventlog'::regnamespace order by c.oid
    """
    with psycopg.connect(database_dsn, autocommit=True) as connection:
        before = connection.execute(look).fetchall()
        migrate(database_dsn)
        assert connection.execute(look).fetchall() == before
        assert len(before) > 5


def test_what_is_there_is_explained(database_dsn: str) -> None:
    """Every table has a comment that says why, and every constraint a name of its own."""
    with psycopg.connect(database_dsn) as connection:
        silent = connection.execute("""
            select relname from pg_class
            where relnamespace = 'eventlog'::regnamespace and relkind = 'r' and relname <> 'alembic_version'
                and obj_description(oid, 'pg_class') is null
        """).fetchall()
        unnamed = connection.execute("""
            select conname from pg_constraint
            where connamespace = 'eventlog'::regnamespace and contype in ('p', 'u', 'c', 'f')
                and conname ~ '_(pkey|key|check|fkey)[0-9]*$'
        """).fetchall()
    assert silent == []
    assert unnamed == []


VERSIONS = Path(migrations.__file__).parent / "versions"
RELEASE_BEFORE = ("0001_event_log.sql", "0002_timers.sql")


def migrate_to_release_before(dsn: str) -> None:
    """Make the schema as the release before left it."""
    with psycopg.connect(dsn) as connection:
        connection.execute("create schema eventlog")
        connection.execute(role_script("baohuang_app").encode())
        for script in RELEASE_BEFORE:
            connection.execute(VERSIONS.joinpath(script).read_bytes())
        connection.execute("create table eventlog.alembic_version (version_num varchar(32) primary key)")
        connection.execute("insert into eventlog.alembic_version values ('0002')")


@pytest.fixture
async def before(database_dsn: str) -> AsyncIterator[Pool]:
    """Give connections as a replica of the release before has them."""
    async with await open_pool(database_dsn, 1, Limits()) as pool:
        yield pool


async def append_as_release_before(pool: Pool, *wanted: Append) -> Sequence[Any]:
    """Append as a replica of the release before does, in one flush, and return the rows that answer it."""
    batch = [Linked(one, chain.link(one, [token_bytes(chain.SALT_BYTES) for _ in one.events])) for one in wanted]
    rows: Sequence[Any] = await pool.fetch(
        "select settled, version, hash, position, stream_id, digest, outcome, refused_by"
        " from eventlog.append_timed($1, $2)",
        commands_of(batch),
        events_of(batch),
    )
    return rows


async def test_the_release_before_runs_on(postgres_server: Server) -> None:
    """What it appended is there after the migration; it goes on, on the same session, beside one of this release."""
    with postgres_server.database() as name:
        dsn = postgres_server.dsn_of(name)
        await asyncio.to_thread(migrate_to_release_before, dsn)
        async with await open_pool(dsn, 1, Limits()) as before:
            stream_id = new_stream()
            (row,) = await append_as_release_before(
                before, command(stream_id, due_at=NOON, summary=b'{"players":["an"]}')
            )
            assert row["settled"] == "appended"
            await asyncio.to_thread(migrate, dsn)
            async with open_log(dsn) as log:
                # Tables of that release are open to all.
                assert [head.stream_id for head in await log.list_heads(b'{"listed":true}')] == [stream_id]
                await take_turns(before, log, stream_id)


async def take_turns(before: Pool, log: PostgresLog, stream_id: StreamId) -> None:
    """Append to a stream of one event as this release and the one before by turns, and check what comes of it."""
    for _ in range(2):
        await accepted(log, after(stream_id, await head_of(log, stream_id)))
        (row,) = await append_as_release_before(before, after(stream_id, await head_of(log, stream_id)))
        assert row["settled"] == "appended"
    head = await head_of(log, stream_id)
    assert head.version == 5
    chain.verify_end(chain.verify(chain.start(stream_id), await log.read_stream(stream_id)), head)


async def test_the_release_before_is_answered_as_ever(before: Pool, postgres_log: PostgresLog) -> None:
    """Its append settles every kind of outcome, sets timers, and neither takes nor gives up a name."""
    name = new_name()
    streams = [new_stream() for _ in range(5)]
    ends = [
        await accepted(postgres_log, command(stream_id, claims=(name,) * (not n)))
        for n, stream_id in enumerate(streams)
    ]
    again = command(new_stream())
    await accepted(postgres_log, again)
    rows = await append_as_release_before(
        before,
        replace(after(streams[0], ends[0]), due_at=NOON),
        command(streams[1]),
        again,
        after(streams[2], ends[2], NewEvent("", b"{}")),
        command(streams[3], 1, bytes(32)),
        replace(after(streams[4], ends[4]), not_before=await postgres_log.clock() + timedelta(hours=1)),
    )
    assert [row["settled"] for row in rows] == ["appended", "conflict", "duplicate", "refused", "corrupted", "early"]
    assert rows[0]["position"] == (await postgres_log.read_stream(streams[0]))[-1].position
    assert rows[3]["refused_by"] == "an_event_has_a_type"
    assert [due.stream_id for due in await postgres_log.claim_due(1000, 0)] == [streams[0]]
    assert await postgres_log.holders([name]) == {name: streams[0]}


async def head_of(log: PostgresLog, stream_id: StreamId) -> Head:
    """Give the head of a stream that is there."""
    head = await log.head(stream_id)
    assert head is not None
    return head
