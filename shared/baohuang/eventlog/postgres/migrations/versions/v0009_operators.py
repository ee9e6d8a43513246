"""Operators: views of the log for people who ask it with SQL, with the indexes these need."""

from pathlib import Path

from sqlalchemy import Connection

from baohuang.database.migrations import run

revision = "0009"
down_revision = "0008"


def upgrade(connection: Connection) -> None:
    """Make them."""
    run(connection, Path(__file__).with_name("0009_operators.sql"))
