"""Schema migrations: plain SQL files that alembic orders and remembers, one line of them for each schema.

All of an upgrade is one transaction under one advisory lock, so any number of replicas may start at once on an empty
or an old database: one migrates, the others wait and find it done.
"""

from pathlib import Path
from typing import Any, Final

from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, make_url
from sqlalchemy.pool import NullPool

from baohuang.database.schema import Schema

_ROLE: Final = Path(__file__).with_name("role.sql")
_MEMBER: Final = Path(__file__).with_name("member.sql")
_LOCK_BYTES: Final = 8


def migrate(dsn: str, schema: Schema) -> None:
    """Bring a schema of a database to this release's version, whatever it is at now, and make its roles.

    Blocks until done; from a coroutine, `await asyncio.to_thread(migrate, dsn, schema)`.

    Raises sqlalchemy.exc.DBAPIError if the database refuses, alembic.util.CommandError if it is ahead of this release.
    """
    engine = create_engine(make_url(dsn).set(drivername="postgresql+psycopg"), poolclass=NullPool)
    with engine.connect() as connection:
        plain = connection.execution_options(no_parameters=True)
        with plain.begin():
            _upgrade(plain, schema)


def run(connection: Connection, script: Path) -> None:
    """Execute a file of SQL statements."""
    connection.exec_driver_sql(script.read_text(encoding="utf-8"))


def role_script(role: str) -> str:
    """Return the SQL that makes a role, if there is none, and lets whoever runs it act as it."""
    return _ROLE.read_text(encoding="utf-8").format(role=role)


def _upgrade(connection: Connection, schema: Schema) -> None:
    connection.exec_driver_sql(f"select pg_advisory_xact_lock({_lock(schema)})")
    connection.exec_driver_sql(f"create schema if not exists {schema.name}")
    for role in (schema.role, *schema.readers, *schema.reads):
        connection.exec_driver_sql(role_script(role))
    for reads in schema.reads:
        connection.exec_driver_sql(_MEMBER.read_text(encoding="utf-8").format(role=schema.role, reads=reads))
    connection.exec_driver_sql(f"set local search_path to {schema.name}")
    config = Config()
    config.set_main_option("script_location", str(schema.folder))
    config.set_main_option("path_separator", "os")
    scripts = ScriptDirectory.from_config(config)

    def steps(revision: Any, _context: MigrationContext) -> Any:
        return scripts._upgrade_revs("head", revision)  # noqa: SLF001 (what alembic's own upgrade command calls)

    context = MigrationContext.configure(connection, opts={"version_table_schema": schema.name, "fn": steps})
    context.run_migrations(connection=connection)


def _lock(schema: Schema) -> int:
    # Any number will do, as long as every release takes the same: the name in ASCII, as far as it fits.
    return int.from_bytes(schema.name.encode()[:_LOCK_BYTES])
