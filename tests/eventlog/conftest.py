"""The two event logs under test."""

from collections.abc import AsyncIterator

import pytest

from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import EventLog
from baohuang.eventlog.postgres.log import PostgresLog, open_log


@pytest.fixture(params=["memory", "postgres"])
def place(request: pytest.FixtureRequest) -> str | None:
    """Give the DSN of a log's database, None for the log in memory."""
    return request.getfixturevalue("database_dsn") if request.param == "postgres" else None


@pytest.fixture
async def log(place: str | None) -> AsyncIterator[EventLog]:
    """Give each implementation of the port in turn."""
    if place is None:
        yield MemoryLog()
    else:
        async with open_log(place) as postgres:
            yield postgres


@pytest.fixture
async def postgres_log(database_dsn: str) -> AsyncIterator[PostgresLog]:
    """Give a log on the module's database."""
    async with open_log(database_dsn) as opened:
        yield opened
