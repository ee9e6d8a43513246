"""The schema `matchmaking`, and how it came to be."""

from pathlib import Path
from typing import Final

from baohuang.database import migrations
from baohuang.database.migrations import Schema

ROLE: Final = "baohuang_matchmaking"
SCHEMA: Final = Schema("matchmaking", ROLE, Path(__file__).parent)


def migrate(dsn: str) -> None:
    """Bring matchmaking's schema to this release's version. See `baohuang.database.migrations.migrate`."""
    migrations.migrate(dsn, SCHEMA)
