"""How the schema `matchmaking` came to be."""

from baohuang.database import migrations
from matchmaking_service.schema import SCHEMA


def migrate(dsn: str) -> None:
    """Bring matchmaking's schema to this release's version. See `baohuang.database.migrations.migrate`."""
    migrations.migrate(dsn, SCHEMA)
