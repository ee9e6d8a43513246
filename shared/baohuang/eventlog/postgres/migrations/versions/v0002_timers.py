"""Timers: the deadline each stream waits for, set by the append and claimed by any replica."""

from pathlib import Path

from sqlalchemy import Connection

from baohuang.database.migrations import run

revision = "0002"
down_revision = "0001"


def upgrade(connection: Connection) -> None:
    """Add the timers, and an append that sets them."""
    run(connection, Path(__file__).with_name("0002_timers.sql"))
