"""A database to forge: each module gives `played_database`, and each test gets a copy of it to itself."""

from collections.abc import AsyncIterator, Iterator

import asyncpg
import pytest

from baohuang.eventlog.postgres.log import PostgresLog, open_log
from databases import Server


@pytest.fixture
def dsn(postgres_server: Server, played_database: str) -> Iterator[str]:
    """Give the superuser's DSN of a database that one test has to itself, with all that in it."""
    with postgres_server.database(played_database) as name:
        yield postgres_server.dsn_of(name)


@pytest.fixture
async def log(dsn: str) -> AsyncIterator[PostgresLog]:
    """Give its log."""
    async with open_log(dsn, readers=1) as opened:
        yield opened


@pytest.fixture
async def superuser(dsn: str) -> AsyncIterator[asyncpg.Connection]:
    """Give a superuser's session in which no trigger fires."""
    connection = await asyncpg.connect(dsn)
    await connection.execute("set session_replication_role = replica")
    yield connection
    await connection.close()
