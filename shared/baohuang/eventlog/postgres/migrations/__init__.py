"""Schema migrations of the event log: plain SQL files that alembic orders and remembers.

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

SCHEMA: Final = "eventlog"
_HERE: Final = Path(__file__).parent
# Any number will do, as long as every release takes the same: "eventlog" in ASCII.
_LOCK: Final = int.from_bytes(SCHEMA.encode())


def migrate(dsn: str) -> None:
    """Bring the schema `eventlog` of a database to this release's version, whatever it is at now.

    Blocks until done; from a coroutine, `await asyncio.to_thread(migrate, dsn)`.

    Raises sqlalchemy.exc.DBAPIError if the database refuses, alembic.util.CommandError if it is ahead of this release.
    """
    engine = create_engine(make_url(dsn).set(drivername="postgresql+psycopg"), poolclass=NullPool)
    with engine.connect() as connection:
        plain = connection.execution_options(no_parameters=True)
        with plain.begin():
            _upgrade(plain)


def run(connection: Connection, script: Path) -> None:
    """Execute a file of SQL statements."""
    connection.exec_driver_sql(script.read_text(encoding="utf-8"))


def _upgrade(connection: Connection) -> None:
    connection.exec_driver_sql(f"select pg_advisory_xact_lock({_LOCK})")
    connection.exec_driver_sql(f"create schema if not exists {SCHEMA}")
    run(connection, _HERE / "role.sql")
    config = Config()
    config.set_main_option("script_location", str(_HERE))
    config.set_main_option("path_separator", "os")
    scripts = ScriptDirectory.from_config(config)

    def steps(revision: Any, _context: MigrationContext) -> Any:
        return scripts._upgrade_revs("head", revision)  # noqa: SLF001 (what alembic's own upgrade command calls)

    context = MigrationContext.configure(connection, opts={"version_table_schema": SCHEMA, "fn": steps})
    context.run_migrations(connection=connection)
