"""How long rows are kept."""

from pathlib import Path

from sqlalchemy import Connection

from baohuang.database.migrations import run

revision = "0003"
down_revision = "0002"


def upgrade(connection: Connection) -> None:
    """Create what purges, and what finds the tickets that went wrong."""
    run(connection, Path(__file__).with_name("0003_kept.sql"))
