"""Codes of parties."""

from pathlib import Path

from sqlalchemy import Connection

from baohuang.database.migrations import run

revision = "0005"
down_revision = "0004"


def upgrade(connection: Connection) -> None:
    """Give no code to a party that nobody can join."""
    run(connection, Path(__file__).with_name("0005_codes.sql"))
