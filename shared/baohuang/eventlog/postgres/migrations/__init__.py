"""The schema `eventlog`, and how it came to be."""

from pathlib import Path
from typing import Final

from baohuang.database import migrations
from baohuang.database.migrations import Schema, run

__all__ = ["READERS", "SCHEMA", "migrate", "run"]

READERS: Final = "baohuang_log_reader"
"""Who may read the log's public view; a service that does has its own role be a member of this one."""
SCHEMA: Final = Schema("eventlog", "baohuang_app", Path(__file__).parent, (READERS,))


def migrate(dsn: str) -> None:
    """Bring the event log of a database to this release's version; see `baohuang.database.migrations.migrate`."""
    migrations.migrate(dsn, SCHEMA)
