"""A backup restored as docs/operations.md has it, into a cluster that has never run this system."""

import asyncio
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from typer.testing import CliRunner

import matchmaking_service.schema
import rating_service.schema
import scoring_service.schema
from baohuang.embedded.postgres import EmbeddedPostgres
from baohuang.embedded.postgres_binaries import installed_binaries
from baohuang.eventlog.postgres.schema import SCHEMA
from command_line.main import app
from command_line.migrating import migrate_all
from command_line.services import MATCHMAKING, RATING, SCORING
from operators.page import PATH

SCHEMAS = (SCHEMA, scoring_service.schema.SCHEMA, rating_service.schema.SCHEMA, matchmaking_service.schema.SCHEMA)


@pytest.fixture
def fresh_cluster(tmp_path: Path) -> Iterator[str]:
    """Give the DSN of a cluster that has none of our roles."""
    server = EmbeddedPostgres(tmp_path)
    dsn = asyncio.run(server.start())
    yield dsn
    asyncio.run(server.destroy())


def roles_of_the_page() -> list[str]:
    """Return the statements that the page makes roles with."""
    (block,) = re.findall(r"```\n((?:create role \w+ nologin;\n)+)```", PATH.read_text(encoding="utf-8"))
    return str(block).splitlines()


def test_the_page_names_every_role() -> None:
    """Those that the schemas' grants name, and no other."""
    named = {statement.split()[2] for statement in roles_of_the_page()}
    assert named == {role for schema in SCHEMAS for role in (schema.role, *schema.readers, *schema.reads)}


def test_a_backup_is_restored_and_verifies(week_dsn: str, fresh_cluster: str, tmp_path: Path) -> None:
    """The whole database, roles made before: it migrates, nothing is wrong with its log, and operators may ask it."""
    binaries = installed_binaries()
    dump = str(tmp_path / "backup.dump")
    with psycopg.connect(fresh_cluster, autocommit=True) as connection:
        for statement in roles_of_the_page():
            connection.execute(statement.encode())
    for command in (
        ["pg_dump", "--format=custom", f"--file={dump}", week_dsn],
        ["pg_restore", "--exit-on-error", "--no-owner", f"--dbname={fresh_cluster}", dump],
    ):
        program = str(binaries.prefix / "bin" / command[0])
        subprocess.run([program, *command[1:]], check=True, env=binaries.environment, capture_output=True)  # noqa: S603
    migrate_all(fresh_cluster, (SCORING, RATING, MATCHMAKING))
    verified = CliRunner().invoke(app, ["verify", "--postgres-dsn", fresh_cluster])
    assert verified.exit_code == 0, verified.output
    with psycopg.connect(fresh_cluster) as connection:
        connection.execute("set role baohuang_reader")
        row = connection.execute("select count(*) from history.hands").fetchone()
        assert row is not None
        assert row[0] > 5
