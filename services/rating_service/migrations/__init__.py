"""How the schema `rating` came to be. Its SQL names no schema, so that a rebuild can make it beside itself."""

from dataclasses import replace

from baohuang.database import migrations
from rating_service.schema import SCHEMA


def migrate(dsn: str, name: str = SCHEMA.name) -> None:
    """Bring rating's schema, or one like it under another name, to this release's version.

    See `baohuang.database.migrations.migrate`.
    """
    migrations.migrate(dsn, replace(SCHEMA, name=name))
