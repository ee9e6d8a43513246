"""The schema's migrations, from nothing and again."""

import asyncio

import asyncpg
import psycopg

from baohuang.eventlog.postgres.migrations import migrate
from databases import Server
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
