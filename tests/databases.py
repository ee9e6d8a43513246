"""Databases for tests: one migrated template a server, one copy of it a test module."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
from psycopg import sql
from sqlalchemy import make_url

import matchmaking_service.migrations
import rating_service.migrations
import scoring_service.migrations
from baohuang.eventlog.postgres.migrations import migrate


@dataclass(frozen=True, slots=True)
class Server:
    """A PostgreSQL server, by the DSN of a superuser."""

    dsn: str

    def dsn_of(self, database: str) -> str:
        """Return the superuser's DSN for another of its databases."""
        return make_url(self.dsn).set(database=database).render_as_string(hide_password=False)

    def hurry(self) -> None:
        """Spare the disk: tests kill processes, which lose nothing the kernel has; none of them cuts the power."""
        with psycopg.connect(self.dsn, autocommit=True) as admin:
            admin.execute("alter system set fsync = off")
            admin.execute("select pg_reload_conf()")

    @contextmanager
    def database(self, template: str = "template0") -> Iterator[str]:
        """Create a database, give its name, and drop it in the end, whoever is still connected."""
        name = f"test_{secrets.token_hex(6)}"
        with psycopg.connect(self.dsn, autocommit=True) as admin:
            names = (sql.Identifier(name), sql.Identifier(template))
            admin.execute(sql.SQL("create database {} template {}").format(*names))
        try:
            yield name
        finally:
            with psycopg.connect(self.dsn, autocommit=True) as admin:
                admin.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))

    @contextmanager
    def migrated(self) -> Iterator[str]:
        """Create a database with every schema migrated, give its name, and drop it in the end."""
        with self.database() as name:
            dsn = self.dsn_of(name)
            migrate(dsn)
            scoring_service.migrations.migrate(dsn)
            rating_service.migrations.migrate(dsn)
            matchmaking_service.migrations.migrate(dsn)
            yield name
