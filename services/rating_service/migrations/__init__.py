"""The schema `rating`, and how it came to be. Its SQL names no schema, so that a rebuild can make it beside itself."""

from dataclasses import replace
from pathlib import Path
from typing import Final

from baohuang.database import migrations
from baohuang.database.migrations import Schema

ROLE: Final = "baohuang_rating"
SCHEMA: Final = Schema("rating", ROLE, Path(__file__).parent)


def migrate(dsn: str, name: str = SCHEMA.name) -> None:
    """Bring rating's schema, or one like it under another name, to this release's version.

    See `baohuang.database.migrations.migrate`.
    """
    migrations.migrate(dsn, replace(SCHEMA, name=name))
