"""Tables that are played at, and the history service beside them, over one PostgreSQL."""

from collections.abc import AsyncIterator

import pytest

from baohuang.eventlog.port import EventLog
from baohuang.eventlog.postgres.log import open_log
from history_service.serving import Caller, history
from tables.replicas import Replica, replica


@pytest.fixture
async def log(own_database_dsn: str) -> AsyncIterator[EventLog]:
    """Give the log."""
    async with open_log(own_database_dsn) as opened:
        yield opened


@pytest.fixture
async def service(log: EventLog) -> AsyncIterator[Replica]:
    """Give the table service."""
    async with replica(log) as serving:
        yield serving


@pytest.fixture
async def spectator(own_database_dsn: str, service: Replica) -> AsyncIterator[Caller]:
    """Give somebody who calls the history service and plays nowhere."""
    async with history(own_database_dsn, service.address) as caller:
        yield caller
