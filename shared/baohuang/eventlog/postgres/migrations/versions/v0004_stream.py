"""The stream: who publishes the log, and what other services may read of it."""

from pathlib import Path

from sqlalchemy import Connection

from baohuang.database.migrations import run
from baohuang.stream.schema import relay_tables

revision = "0004"
down_revision = "0003"


def upgrade(connection: Connection) -> None:
    """Add the relay's lease, and the public view."""
    connection.exec_driver_sql(relay_tables("baohuang_app"))
    run(connection, Path(__file__).with_name("0004_stream.sql"))
