"""Fines that return, and hands that were void and count after all."""

from pathlib import Path

from sqlalchemy import Connection

from baohuang.database.migrations import run

revision = "0002"
down_revision = "0001"


def upgrade(connection: Connection) -> None:
    """Make room for them."""
    run(connection, Path(__file__).with_name("0002_reversals.sql"))
