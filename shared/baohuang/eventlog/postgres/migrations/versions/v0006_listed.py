"""Listings: tables stored before there were private ones are open to all."""

from pathlib import Path

from sqlalchemy import Connection

from baohuang.database.migrations import run

revision = "0006"
down_revision = "0005"


def upgrade(connection: Connection) -> None:
    """Say so in their summaries."""
    run(connection, Path(__file__).with_name("0006_listed.sql"))
