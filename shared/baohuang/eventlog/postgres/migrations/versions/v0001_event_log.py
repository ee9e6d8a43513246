"""The event log: events, heads, requests, the counter and the function that appends."""

from pathlib import Path

from sqlalchemy import Connection

from baohuang.database.migrations import run

revision = "0001"
down_revision = None


def upgrade(connection: Connection) -> None:
    """Create it all."""
    run(connection, Path(__file__).with_name("0001_event_log.sql"))
