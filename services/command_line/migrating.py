"""Bringing the database of a backend up to date, one schema after the other: the log's, then those that read it."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from alembic.util import CommandError
from sqlalchemy.exc import DBAPIError

import matchmaking_service.migrations
import rating_service.migrations
import scoring_service.migrations
from baohuang.database.address import DatabaseUnreachableError
from baohuang.database.release import SchemaMismatchError
from baohuang.eventlog.postgres.migrations import migrate
from command_line.backend import MigrationError
from command_line.service_process import Service
from command_line.services import MATCHMAKING, RATING, SCORING

_MIGRATIONS: Final[Mapping[Service, Callable[[str], None]]] = MappingProxyType(
    {
        SCORING: scoring_service.migrations.migrate,
        RATING: rating_service.migrations.migrate,
        MATCHMAKING: matchmaking_service.migrations.migrate,
    }
)


def migrate_all(dsn: str, beside: Sequence[Service]) -> None:
    """Bring the schemas of the table service, and of those beside it, to this release's version.

    Raises MigrationError.
    """
    try:
        migrate(dsn)
        for service in beside:
            if service in _MIGRATIONS:
                _MIGRATIONS[service](dsn)
    except (DatabaseUnreachableError, DBAPIError, CommandError, SchemaMismatchError) as error:
        raise MigrationError(f"cannot bring the database up to date: {error}") from error
