"""A table service and a matchmaking service before it, over one database."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from baohuang.eventlog.postgres.log import open_log
from matchmaking.serving import Service, matchmaking
from tables.replicas import Replica, replica


@pytest.fixture
async def tables(own_database_dsn: str) -> AsyncIterator[Replica]:
    """Give a table service."""
    async with open_log(own_database_dsn) as log, replica(log) as serving:
        yield serving


@pytest.fixture
async def service(own_database_dsn: str, tables: Replica) -> AsyncIterator[Service]:
    """Give a matchmaking service."""
    async with matchmaking(own_database_dsn, tables.address) as serving:
        yield serving


@pytest.fixture
async def database(own_database_dsn: str) -> AsyncIterator[asyncpg.Connection]:
    """Give a superuser's connection, to look behind the service and to hold locks."""
    connection = await asyncpg.connect(own_database_dsn, server_settings={"search_path": "matchmaking"})
    yield connection
    await connection.close()
