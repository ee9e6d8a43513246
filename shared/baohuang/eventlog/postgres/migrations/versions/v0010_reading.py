"""Reading: a role that may read all of the log, and change nothing."""

from pathlib import Path

from sqlalchemy import Connection

from baohuang.database.migrations import run

revision = "0010"
down_revision = "0009"


def upgrade(connection: Connection) -> None:
    """Grant it what it reads."""
    run(connection, Path(__file__).with_name("0010_reading.sql"))
