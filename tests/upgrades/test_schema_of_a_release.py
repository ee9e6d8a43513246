"""A schema older than a service needs, or too new for it: said in one line, and nothing is served."""

import asyncio
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from sqlalchemy.exc import OperationalError

import matchmaking_service.schema
import rating_service.schema
import scoring_service.schema
from baohuang.database.migrations import migrate
from baohuang.database.release import SchemaAheadError, SchemaBehindError, check_schema
from baohuang.database.schema import Schema
from baohuang.eventlog.postgres.schema import HISTORY, SCHEMA
from command_line.migrating import migrate_all
from command_line.services import BESIDE_TABLES
from databases import Server
from deploy.tree import DEPLOY

SCHEMAS = (SCHEMA, scoring_service.schema.SCHEMA, rating_service.schema.SCHEMA, matchmaking_service.schema.SCHEMA)
SERVED = {"table": SCHEMA, "history": SCHEMA, **{schema.name: schema for schema in SCHEMAS[1:]}}
SECONDS = 60.0


@pytest.fixture
def prepared_dsn(postgres_server: Server) -> Iterator[str]:
    """Give a database with all roles that has not been migrated yet."""
    with postgres_server.database() as name:
        dsn = postgres_server.dsn_of(name)
        with psycopg.connect(dsn) as admin:
            admin.execute((DEPLOY / "postgres/roles.sql").read_bytes())
        yield dsn


async def ended(service: str, dsn: str) -> str:
    """Serve until the process ends by itself, which it has to, and give what it wrote."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "BAOHUANG_POSTGRES_DSN": dsn,
        "BAOHUANG_INSECURE_DEV": "true",
        "BAOHUANG_TABLE_ADDRESS": "127.0.0.1:1",
        "BAOHUANG_TABLE_TARGET": "127.0.0.1:1",
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "command_line", "serve", service),
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        said, _ = await asyncio.wait_for(process.communicate(), SECONDS)
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode == 1
    return said.decode()


@pytest.mark.parametrize("service", SERVED)
async def test_no_service_serves_on_a_database_that_was_not_migrated(prepared_dsn: str, service: str) -> None:
    """It ends before it listens, and says which schema is missing and what to do."""
    schema = SERVED[service]
    said = await ended(service, prepared_dsn)
    expected = f"the schema {schema.name} of the database is not there, and this release needs {schema.newest}"
    assert expected in said
    assert "run `baohuang migrate` first" in said
    assert "listening on" not in said


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.name)
async def test_an_older_schema_is_behind(own_database_dsn: str, schema: Schema) -> None:
    """One migration short of what this release knows; nothing is missing of the newest."""
    await check_schema(own_database_dsn, schema)
    set_version(own_database_dsn, schema, "0000")
    with pytest.raises(SchemaBehindError, match=rf"the schema {schema.name} .* is at 0000, .* needs {schema.newest}"):
        await check_schema(own_database_dsn, schema)


async def test_one_schema_alone_may_be_behind(own_database_dsn: str) -> None:
    """A migration that stopped half way stops those whose schema it did not reach."""
    with psycopg.connect(own_database_dsn) as admin:
        admin.execute("drop schema rating cascade")
    await check_schema(own_database_dsn, scoring_service.schema.SCHEMA)
    with pytest.raises(SchemaBehindError):
        await check_schema(own_database_dsn, rating_service.schema.SCHEMA)


async def test_a_newer_schema_will_do_unless_it_says_not(own_database_dsn: str) -> None:
    """For a service, as the role it has, and for a migration, which leaves it as it is."""
    for schema in SCHEMAS:
        set_version(own_database_dsn, schema, "9998")
        await check_schema(own_database_dsn, schema)
    await check_schema(own_database_dsn, SCHEMA, HISTORY)
    migrate_all(own_database_dsn, BESIDE_TABLES)
    with psycopg.connect(own_database_dsn) as admin:
        assert admin.execute("select version_num from eventlog.alembic_version").fetchall() == [("9998",)]
        admin.execute("update eventlog.compatibility set oldest = '9997'")
    ahead = rf"is at 9998, for releases that know 9997; this one knows {SCHEMA.newest}"
    with pytest.raises(SchemaAheadError, match=ahead):
        await check_schema(own_database_dsn, SCHEMA)
    with pytest.raises(SchemaAheadError, match=ahead):
        await asyncio.to_thread(migrate, own_database_dsn, SCHEMA)


def set_version(dsn: str, schema: Schema, version: str) -> None:
    """Have the database say that it is at another version."""
    with psycopg.connect(dsn) as admin:
        table = sql.Identifier(schema.name, "alembic_version")
        admin.execute(sql.SQL("update {} set version_num = {}").format(table, sql.Literal(version)))


def test_a_migration_keeps_nobody_waiting_for_long(own_database_dsn: str) -> None:
    """One that needs what somebody reads for long gives up, having changed nothing, and works afterwards."""
    schema = rating_service.schema.SCHEMA
    with psycopg.connect(own_database_dsn) as reader:
        reader.execute("lock table rating.alembic_version in access exclusive mode")
        with pytest.raises(OperationalError, match="lock timeout"):
            migrate(own_database_dsn, schema)
    migrate(own_database_dsn, schema)


CONTRACTION = """
from sqlalchemy import Connection

revision = "9999"
down_revision = "{newest}"
{oldest}

def upgrade(connection: Connection) -> None:
    connection.exec_driver_sql("create table moods (mood text)")
"""


@pytest.mark.parametrize("oldest", ["", 'oldest_code = "9999"'], ids=["adds", "takes away"])
async def test_a_newer_migration_says_what_code_it_needs(own_database_dsn: str, tmp_path: Path, oldest: str) -> None:
    """One that only adds leaves this release at work; one that takes away stops it at its next start, and says so."""
    schema = rating_service.schema.SCHEMA
    shutil.copytree(schema.folder, tmp_path / "migrations")
    newer = CONTRACTION.format(newest=schema.newest, oldest=oldest)
    (tmp_path / "migrations/versions/v9999_moods.py").write_text(newer, encoding="utf-8")
    await asyncio.to_thread(migrate, own_database_dsn, replace(schema, folder=tmp_path / "migrations"))
    if oldest:
        with pytest.raises(SchemaAheadError, match="is at 9999, for releases that know 9999"):
            await check_schema(own_database_dsn, schema)
    else:
        await check_schema(own_database_dsn, schema)
        await asyncio.to_thread(migrate, own_database_dsn, schema)
    with psycopg.connect(own_database_dsn) as admin:
        assert admin.execute("select to_regclass('rating.moods') is not null").fetchall() == [(True,)]
