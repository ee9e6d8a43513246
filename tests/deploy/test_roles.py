"""The roles of the database: each login does its own service's work, and nothing of another's."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import make_url

import matchmaking_service.schema
import rating_service.schema
import scoring_service.schema
from baohuang.embedded.postgres import EmbeddedPostgres
from baohuang.eventlog.postgres import schema as eventlog_schema
from command_line.migrating import migrate_all
from command_line.services import BESIDE_TABLES
from databases import Server
from deploy.tree import DEPLOY

PASSWORD: Final = "hush"  # noqa: S105
SCHEMAS: Final = (
    eventlog_schema.SCHEMA,
    scoring_service.schema.SCHEMA,
    rating_service.schema.SCHEMA,
    matchmaking_service.schema.SCHEMA,
)
ROLE_OF: Final = {
    "login_table": eventlog_schema.SCHEMA.role,
    "login_history": eventlog_schema.HISTORY,
    "login_scoring": scoring_service.schema.ROLE,
    "login_rating": rating_service.schema.ROLE,
    "login_matchmaking": matchmaking_service.schema.ROLE,
}
BESIDE: Final = {"login_table": {eventlog_schema.HISTORY}}
"""Roles of others that a login may act as too: the table service serves the record beside its tables."""
TABLE_OF: Final = {
    eventlog_schema.SCHEMA.role: "eventlog.timers",
    eventlog_schema.HISTORY: "eventlog.events",
    scoring_service.schema.ROLE: "scoring.postings",
    rating_service.schema.ROLE: "rating.changes",
    matchmaking_service.schema.ROLE: "matchmaking.tickets",
}


@pytest.fixture(scope="module")
def dsn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give the superuser's DSN of a database with the roles, migrated by its owner, on a server of its own."""
    server = EmbeddedPostgres(tmp_path_factory.mktemp("roles"))
    dsn = asyncio.run(server.start())
    Server(dsn).hurry()
    with psycopg.connect(dsn, autocommit=True) as admin:
        for _ in range(2):
            admin.execute((DEPLOY / "postgres/roles.sql").read_bytes())
        for login in ("baohuang_owner", *ROLE_OF):
            admin.execute(sql.SQL("alter role {} password {}").format(sql.Identifier(login), PASSWORD))
    migrate_all(dsn_of(dsn, "baohuang_owner"), BESIDE_TABLES)
    yield dsn
    asyncio.run(server.destroy())


def dsn_of(dsn: str, login: str) -> str:
    return make_url(dsn).set(username=login, password=PASSWORD).render_as_string(hide_password=False)


@contextmanager
def acting(dsn: str, login: str, role: str) -> Iterator[psycopg.Connection]:
    """Connect as a login and act as a role, as a service does."""
    with psycopg.connect(dsn_of(dsn, login), autocommit=True) as connection:
        connection.execute(sql.SQL("set role {}").format(sql.Identifier(role)))
        yield connection


def test_the_owner_migrates_and_is_no_superuser(dsn: str) -> None:
    """Everything is its own, what it did again changes nothing."""
    migrate_all(dsn_of(dsn, "baohuang_owner"), BESIDE_TABLES)
    with psycopg.connect(dsn) as admin:
        (is_super,) = admin.execute("select rolsuper from pg_roles where rolname = 'baohuang_owner'").fetchone() or (1,)
        owners = admin.execute("select distinct tableowner from pg_tables where schemaname not like 'pg%'").fetchall()
    assert is_super is False
    assert {owner for (owner,) in owners} - {None} >= {"baohuang_owner"}


@pytest.mark.parametrize(("login", "role"), ROLE_OF.items())
def test_a_login_acts_as_its_own_role(dsn: str, login: str, role: str) -> None:
    """And reads what is its own."""
    with acting(dsn, login, role) as connection:
        assert connection.execute(f"select count(*) from {TABLE_OF[role]}").fetchone() == (0,)  # noqa: S608


@pytest.mark.parametrize(("login", "own"), ROLE_OF.items())
def test_a_login_is_nobody_else(dsn: str, login: str, own: str) -> None:
    """It may not act as another's role, nor as the owner, nor read another's tables, nor change its own log's."""
    beside = BESIDE.get(login, set())
    for other in {*TABLE_OF, "baohuang_owner", "pg_read_all_data"} - {own} - beside:
        with pytest.raises(psycopg.errors.InsufficientPrivilege), acting(dsn, login, other):
            pass
    with acting(dsn, login, own) as connection:
        for role, table in TABLE_OF.items():
            if role not in {own, *beside}:
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(f"select 1 from {table}")  # noqa: S608
        connection.execute("set default_transaction_read_only = off")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("create table public.mine ()")


def test_history_writes_nothing(dsn: str) -> None:
    """It may not, wherever its reads are from; and its sessions do not want to."""
    with acting(dsn, "login_history", eventlog_schema.HISTORY) as connection:
        tables = connection.execute(
            "select oid::regclass::text from pg_class where relnamespace = 'eventlog'::regnamespace and relkind = 'r'"
        ).fetchall()
        assert len(tables) > 5
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            connection.execute("insert into eventlog.requests default values")
        connection.execute("set default_transaction_read_only = off")
        for (table,) in tables:
            for change in ("insert into {} default values", "delete from {}", "truncate {}"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(change.format(table))
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("select eventlog.append_dated(null, null, null, null)")


def test_who_takes_backups_sees_verifiers(dsn: str) -> None:
    """As the page for operators warns: `pg_read_all_data` reads the catalog of passwords, which other logins do not."""
    with psycopg.connect(dsn, autocommit=True) as admin:
        admin.execute(f"create role backup login password '{PASSWORD}' in role pg_read_all_data")
        admin.execute("grant connect on database baohuang to backup")
    with psycopg.connect(dsn_of(dsn, "backup")) as backup:
        row = backup.execute("select rolpassword from pg_authid where rolname = 'login_table'").fetchone()
    assert row is not None
    assert row[0].startswith("SCRAM-SHA-256$")
    with psycopg.connect(dsn_of(dsn, "baohuang_owner")) as owner, pytest.raises(psycopg.errors.InsufficientPrivilege):
        owner.execute("select rolpassword from pg_authid")


def test_strangers_do_not_get_in(dsn: str) -> None:
    """A role of another database on the server may not even connect."""
    with psycopg.connect(dsn, autocommit=True) as admin:
        admin.execute("create role stranger login password 'hush'")
    with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
        psycopg.connect(dsn_of(dsn, "stranger"))


def test_every_role_of_the_code_is_there_before_its_schema(dsn: str) -> None:
    """Those that services act as: their logins are members of them before the first migration."""
    made = (DEPLOY / "postgres/roles.sql").read_text(encoding="utf-8")
    acted_as = {schema.role for schema in SCHEMAS}
    assert acted_as | {eventlog_schema.HISTORY} == set(ROLE_OF.values())
    assert all(f"'{role}'" in made for role in ROLE_OF.values())
    with psycopg.connect(dsn) as admin:
        known = {name for (name,) in admin.execute("select rolname from pg_roles").fetchall()}
    assert known >= {role for schema in SCHEMAS for role in (schema.role, *schema.readers)}
