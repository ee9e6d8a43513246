"""How the schema `eventlog` came to be."""

from baohuang.database import migrations
from baohuang.database.migrations import run
from baohuang.eventlog.postgres.schema import SCHEMA

__all__ = ["migrate", "run"]


def migrate(dsn: str) -> None:
    """Bring the event log of a database to this release's version; see `baohuang.database.migrations.migrate`."""
    migrations.migrate(dsn, SCHEMA)
