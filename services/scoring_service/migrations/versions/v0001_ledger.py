"""The ledger: postings, their entries, accounts; what could not be scored; what consuming and publishing need."""

from pathlib import Path

from sqlalchemy import Connection

from baohuang.database.migrations import run
from baohuang.stream.schema import consumer_tables, relay_tables

revision = "0001"
down_revision = None


def upgrade(connection: Connection) -> None:
    """Create it all."""
    run(connection, Path(__file__).with_name("0001_ledger.sql"))
    connection.exec_driver_sql(consumer_tables("baohuang_scoring"))
    connection.exec_driver_sql(relay_tables("baohuang_scoring"))
