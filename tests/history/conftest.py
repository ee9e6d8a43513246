"""A log to read back, played once a module."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass

import pytest

from baohuang.eventlog.port import StoredEvent
from baohuang.eventlog.postgres.log import open_log
from baohuang.history.reader import HistoryReader, open_history
from databases import Server
from history.plays import played


@dataclass(frozen=True, slots=True)
class Played:
    """A database and all events of its log, in order."""

    dsn: str
    events: Sequence[StoredEvent]


@pytest.fixture(scope="module")
def played_log(postgres_server: Server, template_database: str) -> Iterator[Played]:
    """Give a log of eight tables."""

    async def play(dsn: str) -> Sequence[StoredEvent]:
        async with open_log(dsn, readers=1) as log:
            return await played(log, tables=8, hands=2)

    with postgres_server.database(template_database) as name:
        dsn = postgres_server.dsn_of(name)
        yield Played(dsn, asyncio.run(play(dsn)))


@pytest.fixture
async def history(played_log: Played) -> AsyncIterator[HistoryReader]:
    """Give its reader."""
    async with open_history(played_log.dsn, readers=1) as reader:
        yield reader
