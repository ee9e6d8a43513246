"""How the schema `scoring` came to be. Its SQL names no schema, so that a rebuild can make it beside itself."""

from dataclasses import replace

from baohuang.database import migrations
from scoring_service.schema import SCHEMA


def migrate(dsn: str, name: str = SCHEMA.name) -> None:
    """Bring scoring's schema, or one like it under another name, to this release's version.

    The event log's has to be there. See `baohuang.database.migrations.migrate`.
    """
    migrations.migrate(dsn, replace(SCHEMA, name=name))
