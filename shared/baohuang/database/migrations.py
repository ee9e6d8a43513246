"""Schema migrations: plain SQL files that alembic orders and remembers, one line of them for each schema.

All of an upgrade is one transaction under one advisory lock, so any number of replicas may start at once on an empty
or an old database: one migrates, the others wait and find it done. A database that a newer release has migrated is left
as it is. Nobody is kept waiting for long: a migration that does not get a lock gives up, and changes nothing.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, make_url
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from baohuang.database.address import unreachable
from baohuang.database.release import check_found
from baohuang.database.schema import Schema

_ROLE: Final = Path(__file__).with_name("role.sql")
_MEMBER: Final = Path(__file__).with_name("member.sql")
_COMPATIBILITY: Final = Path(__file__).with_name("compatibility.sql")
_WITHOUT_KEY: Final = """
select c.relname
from pg_class as c
where c.relkind = 'r' and c.relnamespace = to_regnamespace('{schema}')
  and not exists (select from pg_constraint as k where k.conrelid = c.oid and k.contype = 'p')
order by c.relname
"""
_LOCK_BYTES: Final = 8
_LOCK_SECONDS: Final = 4
"""How long a migration waits for a lock: whoever comes after it waits behind it, play included."""


def migrate(dsn: str, schema: Schema) -> None:
    """Bring a schema of a database to this release's version, whatever it is at now, and make its roles.

    Blocks until done; from a coroutine, `await asyncio.to_thread(migrate, dsn, schema)`.

    Raises DatabaseUnreachableError, sqlalchemy.exc.DBAPIError if the database refuses or a lock is not to be had,
    SchemaAheadError if a newer release has taken away what this one needs, alembic.util.CommandError if its version is
    none of ours.
    """
    with _connected(dsn) as plain, plain.begin():
        _upgrade(plain, schema)


def without_key(dsn: str, schema: Schema) -> Sequence[str]:
    """Return the tables of a schema that lack a primary key: each that a migration made has one.

    A restore that broke off left them so, since keys come after the rows. Raises DatabaseUnreachableError,
    sqlalchemy.exc.DBAPIError.
    """
    with _connected(dsn) as plain:
        rows = plain.exec_driver_sql(_WITHOUT_KEY.format(schema=schema.name)).all()
    return [f"{schema.name}.{row.relname}" for row in rows]


def _connected(dsn: str) -> Connection:
    """Open a connection that sends statements as they are, whatever stands for a parameter in them.

    Raises DatabaseUnreachableError, also where the server lets nobody in by that DSN.
    """
    engine = create_engine(make_url(dsn).set(drivername="postgresql+psycopg"), poolclass=NullPool)
    try:
        return engine.connect().execution_options(no_parameters=True)
    except OperationalError as error:
        # Of several lines the first says what there is to say, and none the password.
        raise unreachable(dsn, str(error.orig).partition("\n")[0]) from error


def run(connection: Connection, script: Path) -> None:
    """Execute a file of SQL statements."""
    connection.exec_driver_sql(script.read_text(encoding="utf-8"))


def role_script(role: str) -> str:
    """Return the SQL that makes a role, if there is none, and lets whoever runs it act as it."""
    return _ROLE.read_text(encoding="utf-8").format(role=role)


def _upgrade(connection: Connection, schema: Schema) -> None:
    connection.exec_driver_sql(f"select pg_advisory_xact_lock({_lock(schema)})")
    connection.exec_driver_sql(f"set local lock_timeout = '{_LOCK_SECONDS}s'")
    connection.exec_driver_sql(f"create schema if not exists {schema.name}")
    for role in (schema.role, *schema.readers, *schema.reads):
        connection.exec_driver_sql(role_script(role))
    for reads in schema.reads:
        connection.exec_driver_sql(_MEMBER.read_text(encoding="utf-8").format(role=schema.role, reads=reads))
    connection.exec_driver_sql(f"set local search_path to {schema.name}")
    if not _is_ahead(connection, schema):
        _run_migrations(connection, schema)


def _is_ahead(connection: Connection, schema: Schema) -> bool:
    """Tell whether a newer release has been here. Raises SchemaAheadError if this one cannot work any more."""
    if connection.exec_driver_sql("select to_regclass('compatibility')").scalar() is None:
        return False
    version, oldest = connection.exec_driver_sql("select version_num, oldest from alembic_version, compatibility").one()
    if version <= schema.newest:
        return False
    check_found(schema, version, oldest)
    return True


def _run_migrations(connection: Connection, schema: Schema) -> None:
    config = Config()
    config.set_main_option("script_location", str(schema.folder))
    config.set_main_option("path_separator", "os")
    scripts = ScriptDirectory.from_config(config)

    def steps(revision: Any, _context: MigrationContext) -> Any:
        return scripts._upgrade_revs("head", revision)  # noqa: SLF001 (what alembic's own upgrade command calls)

    context = MigrationContext.configure(connection, opts={"version_table_schema": schema.name, "fn": steps})
    context.run_migrations(connection=connection)
    _tell_compatibility(connection, schema, scripts)


def _tell_compatibility(connection: Connection, schema: Schema, scripts: ScriptDirectory) -> None:
    """Write down from which migration on code has to know, for the roles that services act as."""
    oldest = max(getattr(script.module, "oldest_code", "0000") for script in scripts.walk_revisions())
    asking = ", ".join((schema.role, *sorted({*schema.readers} & {*schema.reads})))
    connection.exec_driver_sql(_COMPATIBILITY.read_text(encoding="utf-8").format(oldest=oldest, roles=asking))


def _lock(schema: Schema) -> int:
    # Any number will do, as long as every release takes the same: the name in ASCII, as far as it fits.
    return int.from_bytes(schema.name.encode()[:_LOCK_BYTES])
