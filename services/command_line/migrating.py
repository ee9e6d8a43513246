"""Bringing the database of a backend up to date, one schema after the other: the log's, then those that read it."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from alembic.util import CommandError
from sqlalchemy.exc import DBAPIError

import baohuang.eventlog.postgres.schema
import matchmaking_service.schema
import rating_service.schema
import scoring_service.schema
from baohuang.database.address import DatabaseUnreachableError
from baohuang.database.migrations import migrate, without_key
from baohuang.database.release import SchemaMismatchError
from baohuang.database.schema import Schema
from command_line.backend import MigrationError
from command_line.services import MATCHMAKING, RATING, SCORING, Service

_LOG: Final = baohuang.eventlog.postgres.schema.SCHEMA
_BESIDE: Final[Mapping[Service, Schema]] = MappingProxyType(
    {
        SCORING: scoring_service.schema.SCHEMA,
        RATING: rating_service.schema.SCHEMA,
        MATCHMAKING: matchmaking_service.schema.SCHEMA,
    }
)


def migrate_all(dsn: str, beside: Sequence[Service]) -> None:
    """Bring the schemas of the table service, and of those beside it, to this release's version.

    Raises MigrationError.
    """
    for schema in (_LOG, *(_BESIDE[service] for service in beside if service in _BESIDE)):
        try:
            migrate(dsn, schema)
        except DatabaseUnreachableError as error:
            raise MigrationError(f"cannot bring the database up to date: {error}") from error
        except (CommandError, SchemaMismatchError) as error:
            raise MigrationError(f"cannot bring the database up to date, its schema {schema.name}: {error}") from error
        except DBAPIError as error:
            why = f"{_said(error)}{_unfinished(dsn, schema)}"
            raise MigrationError(f"cannot bring the database up to date, its schema {schema.name}: {why}") from error


def _said(error: DBAPIError) -> str:
    """Return what the database said, without the statement that it said it of."""
    return " ".join(str(error.orig).split())


def _unfinished(dsn: str, schema: Schema) -> str:
    """Return what else there is to know: the schema may be one that a restore did not come to the end of."""
    try:
        tables = without_key(dsn, schema)
    except (DatabaseUnreachableError, DBAPIError):
        return ""
    if not tables:
        return ""
    return f"; {', '.join(tables)} lack their primary keys: the database was not restored whole"
