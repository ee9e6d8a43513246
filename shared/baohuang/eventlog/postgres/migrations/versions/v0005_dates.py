"""Dates: an append that is refused once the reading of the clock it was decided by is too old."""

from pathlib import Path

from sqlalchemy import Connection

from baohuang.database.migrations import run

revision = "0005"
down_revision = "0004"


def upgrade(connection: Connection) -> None:
    """Add an append with latest dates."""
    run(connection, Path(__file__).with_name("0005_dates.sql"))
