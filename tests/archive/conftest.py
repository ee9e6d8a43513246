"""Logs with finished tables, and the commands over them."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import asyncpg
import pytest

from archive.tables import NAMES, finished
from baohuang.eventlog.postgres.log import open_log
from databases import Server


@pytest.fixture(scope="module")
def played(postgres_server: Server, template_database: str) -> Iterator[str]:
    """Give the name of a database with three finished tables, one after the other."""
    with postgres_server.database(template_database) as name:
        asyncio.run(_play(postgres_server.dsn_of(name)))
        yield name


async def _play(dsn: str) -> None:
    async with open_log(dsn) as log:
        for seed, name in enumerate(NAMES):
            await finished(log, name, seed=seed)


@pytest.fixture
def source(postgres_server: Server, played: str) -> Iterator[str]:
    """Give the DSN of a copy of it that one test has to itself."""
    with postgres_server.database(played) as name:
        yield postgres_server.dsn_of(name)


@pytest.fixture
def empty(own_database_dsn: str) -> str:
    """Give the DSN of a migrated and empty database."""
    return own_database_dsn


@pytest.fixture
async def superuser(source: str) -> AsyncIterator[asyncpg.Connection]:
    """Give a superuser's session of the log that was played, in which no trigger fires."""
    connection = await asyncpg.connect(source)
    await connection.execute("set session_replication_role = replica")
    yield connection
    await connection.close()
