"""Ratings: what each posting changed, standings by season, points of all time; what consuming needs."""

from pathlib import Path

from sqlalchemy import Connection

from baohuang.database.migrations import run
from baohuang.stream.schema import consumer_tables

revision = "0001"
down_revision = None


def upgrade(connection: Connection) -> None:
    """Create it all."""
    run(connection, Path(__file__).with_name("0001_ratings.sql"))
    connection.exec_driver_sql(consumer_tables("baohuang_rating"))
