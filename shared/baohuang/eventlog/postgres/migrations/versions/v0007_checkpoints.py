"""Checkpoints: signed statements of where every stream ended."""

from pathlib import Path

from sqlalchemy import Connection

from baohuang.database.migrations import run

revision = "0007"
down_revision = "0006"


def upgrade(connection: Connection) -> None:
    """Make their table."""
    run(connection, Path(__file__).with_name("0007_checkpoints.sql"))
