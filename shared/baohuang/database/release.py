"""Whether a schema of the database is one that this release can work with.

    database   0009 ─── this release knows up to 0010 ─── 0011, oldest 0010 ─── 0012, oldest 0011
               behind: migrate first                      ahead: works          ahead: does not

Migrations go forward only, and each leaves the schema so that the release before works on. One that does not, since it
takes away what older code used, says from which migration on code has to know: `oldest_code = "0011"` in its module.

    SchemaMismatchError
    ├── SchemaBehindError    there is no such schema, or it lacks migrations of this release
    └── SchemaAheadError     a newer release took away what this one needs
"""

from typing import Any, Final

import asyncpg

from baohuang.database.pool import open_connection
from baohuang.database.schema import Schema

_FOUND: Final = "select version_num as version, oldest from {name}.alembic_version, {name}.compatibility"
_NOT_THERE: Final = (
    asyncpg.UndefinedTableError,
    asyncpg.InvalidSchemaNameError,
    asyncpg.InsufficientPrivilegeError,
)
_CONNECT_SECONDS: Final = 10.0


class SchemaMismatchError(Exception):
    """The schema is not one for this release."""


class SchemaBehindError(SchemaMismatchError):
    """The schema is not there, or older than this release needs."""


class SchemaAheadError(SchemaMismatchError):
    """The schema is so new that this release cannot work with it."""


async def check_schema(dsn: str, schema: Schema, role: str | None = None) -> None:
    """Look whether the schema is one for this release, as its own role or another that reads it.

    Raises SchemaMismatchError, OSError, asyncpg.PostgresError.
    """
    connection = await open_connection(dsn, f"baohuang {schema.name}", _CONNECT_SECONDS)
    try:
        async with connection.transaction(readonly=True):
            found = await _found(connection, schema, role or schema.role)
    finally:
        await connection.close()
    if found is None:
        raise SchemaBehindError(_behind(schema, "not there"))
    check_found(schema, found["version"], found["oldest"])


async def _found(connection: asyncpg.Connection, schema: Schema, role: str) -> Any:
    """Return what the schema says of itself, None if it is not there. Raises InsufficientPrivilegeError (the role)."""
    try:
        await connection.execute("select set_config('role', $1, true)", role)
    except asyncpg.InvalidParameterValueError:  # there is no such role
        return None
    try:
        return await connection.fetchrow(_FOUND.format(name=schema.name))
    except _NOT_THERE:
        return None


def check_found(schema: Schema, version: str, oldest: str) -> None:
    """Look at the version a database has, and from which one on code has to know. Raises SchemaMismatchError."""
    newest = schema.newest
    if version < newest:
        raise SchemaBehindError(_behind(schema, f"at {version}"))
    if newest < oldest:
        raise SchemaAheadError(
            f"the schema {schema.name} of the database is at {version}, for releases that know {oldest}; "
            f"this one knows {newest}: run a newer release"
        )


def _behind(schema: Schema, found: str) -> str:
    return (
        f"the schema {schema.name} of the database is {found}, and this release needs {schema.newest}: "
        "run `baohuang migrate` first"
    )
