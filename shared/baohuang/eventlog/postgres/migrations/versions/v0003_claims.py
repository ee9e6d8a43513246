"""Claims: names that one stream at a time holds, taken and given up by appends."""

from pathlib import Path

from sqlalchemy import Connection

from baohuang.database.migrations import run

revision = "0003"
down_revision = "0002"


def upgrade(connection: Connection) -> None:
    """Add the claims, and an append that settles them."""
    run(connection, Path(__file__).with_name("0003_claims.sql"))
