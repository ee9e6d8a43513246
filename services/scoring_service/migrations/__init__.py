"""The schema `scoring`, and how it came to be. Its SQL names no schema, so that a rebuild can make it beside itself."""

from dataclasses import replace
from pathlib import Path
from typing import Final

from baohuang.database import migrations
from baohuang.database.migrations import Schema
from baohuang.eventlog.postgres.migrations import READERS

ROLE: Final = "baohuang_scoring"
SCHEMA: Final = Schema("scoring", ROLE, Path(__file__).parent, reads=(READERS,))


def migrate(dsn: str, name: str = SCHEMA.name) -> None:
    """Bring scoring's schema, or one like it under another name, to this release's version.

    The event log's has to be there. See `baohuang.database.migrations.migrate`.
    """
    migrations.migrate(dsn, replace(SCHEMA, name=name))
