"""The schema's migrations, from nothing and again."""

import asyncio
from pathlib import Path
from secrets import token_bytes
from typing import Any

import asyncpg
import psycopg

from baohuang.database.migrations import role_script
from baohuang.eventlog import chain
from baohuang.eventlog.port import Append
from baohuang.eventlog.postgres import migrations
from baohuang.eventlog.postgres.connections import Limits, open_pool
from baohuang.eventlog.postgres.flush import commands_of, events_of
from baohuang.eventlog.postgres.group_commit import Linked
from baohuang.eventlog.postgres.log import open_log
from baohuang.eventlog.postgres.migrations import migrate
from databases import Server
from eventlog.commands import after, command, new_stream
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


FIRST = Path(migrations.__file__).parent / "versions" / "0001_event_log.sql"
COLUMNS_OF_0001 = 11


def migrate_to_0001(dsn: str) -> None:
    """Make the schema as the release before left it."""
    with psycopg.connect(dsn) as connection:
        connection.execute("create schema eventlog")
        connection.execute(role_script("baohuang_app").encode())
        connection.execute(FIRST.read_bytes())
        connection.execute("create table eventlog.alembic_version (version_num varchar(32) primary key)")
        connection.execute("insert into eventlog.alembic_version values ('0001')")


async def append_as_0001(dsn: str, wanted: Append) -> Any:
    """Append as a replica of the release before does, and return the row that answers it."""
    batch = [Linked(wanted, chain.link(wanted, [token_bytes(chain.SALT_BYTES) for _ in wanted.events]))]
    commands = [row[:COLUMNS_OF_0001] for row in commands_of(batch)]
    async with await open_pool(dsn, 1, Limits()) as pool:
        (row,) = await pool.fetch("select * from eventlog.append($1, $2)", commands, events_of(batch))
    return row


async def test_the_release_before_runs_on(postgres_server: Server) -> None:
    """What it appended is there after the migration, and it goes on appending beside a replica of this release."""
    with postgres_server.database() as name:
        dsn = postgres_server.dsn_of(name)
        await asyncio.to_thread(migrate_to_0001, dsn)
        stream_id = new_stream()
        assert (await append_as_0001(dsn, command(stream_id)))["settled"] == "appended"
        await asyncio.to_thread(migrate, dsn)
        async with open_log(dsn) as log:
            for _ in range(2):
                head = await log.head(stream_id)
                assert head is not None
                await log.append(after(stream_id, head))
                head = await log.head(stream_id)
                assert head is not None
                assert (await append_as_0001(dsn, after(stream_id, head)))["settled"] == "appended"
            head = await log.head(stream_id)
            assert head is not None
            assert head.version == 5
            chain.verify_end(chain.verify(chain.start(stream_id), await log.read_stream(stream_id)), head)
