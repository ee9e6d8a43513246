"""Parties of one."""

from pathlib import Path

from sqlalchemy import Connection

from baohuang.database.migrations import run

revision = "0004"
down_revision = "0003"


def upgrade(connection: Connection) -> None:
    """Look nobody up for parties of one."""
    run(connection, Path(__file__).with_name("0004_alone.sql"))
