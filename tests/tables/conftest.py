"""Table services to test: over the log in memory, over PostgreSQL."""

from collections.abc import AsyncIterator

import pytest

from baohuang.eventlog.memory import MemoryLog
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


@pytest.fixture
async def durable(database_dsn: str) -> AsyncIterator[Replica]:
    """Give a service over PostgreSQL."""
    async with open_log(database_dsn) as log, replica(log) as serving:
        yield serving
