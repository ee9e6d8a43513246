"""Table services to test: over the log in memory, over PostgreSQL."""

from collections.abc import AsyncIterator

import pytest

from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import EventLog
from baohuang.eventlog.postgres.log import open_log
from tables.replicas import Replica, replica


@pytest.fixture
def log() -> MemoryLog:
    """Give a log in memory, for everything that is not about durability."""
    return MemoryLog()


@pytest.fixture
async def service(log: MemoryLog) -> AsyncIterator[Replica]:
    """Give a service over the log in memory."""
    async with replica(log) as serving:
        yield serving


@pytest.fixture(params=["memory", "postgres"])
def place(request: pytest.FixtureRequest) -> str | None:
    """Give the DSN of a log's database, None for the log in memory."""
    return request.getfixturevalue("own_database_dsn") if request.param == "postgres" else None


@pytest.fixture
async def either_log(place: str | None) -> AsyncIterator[EventLog]:
    """Give the log in memory and the one on PostgreSQL in turn."""
    if place is None:
        yield MemoryLog()
    else:
        async with open_log(place) as postgres:
            yield postgres


@pytest.fixture
async def either(either_log: EventLog) -> AsyncIterator[Replica]:
    """Give a service over each log in turn."""
    async with replica(either_log) as serving:
        yield serving


@pytest.fixture
async def durable(own_database_dsn: str) -> AsyncIterator[Replica]:
    """Give a service over PostgreSQL."""
    async with open_log(own_database_dsn) as log, replica(log) as serving:
        yield serving
