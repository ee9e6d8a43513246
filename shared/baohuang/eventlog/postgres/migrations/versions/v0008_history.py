"""History: indexes and functions by which the log is read back by player, type, ruling and time."""

from pathlib import Path

from sqlalchemy import Connection

from baohuang.database.migrations import run

revision = "0008"
down_revision = "0007"


def upgrade(connection: Connection) -> None:
    """Make them; appends wait while the indexes of a long log are built."""
    run(connection, Path(__file__).with_name("0008_history.sql"))
