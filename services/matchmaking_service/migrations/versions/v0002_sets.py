"""Tickets, matches and tables in sets."""

from pathlib import Path

from sqlalchemy import Connection

from baohuang.database.migrations import run

revision = "0002"
down_revision = "0001"


def upgrade(connection: Connection) -> None:
    """Create the functions, and what they keep."""
    run(connection, Path(__file__).with_name("0002_sets.sql"))
