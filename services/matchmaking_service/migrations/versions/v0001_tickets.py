"""Parties, tickets, matches, and the requests that were carried out."""

from pathlib import Path

from sqlalchemy import Connection

from baohuang.database.migrations import run

revision = "0001"
down_revision = None


def upgrade(connection: Connection) -> None:
    """Create it all."""
    run(connection, Path(__file__).with_name("0001_tickets.sql"))
