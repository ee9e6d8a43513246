"""A log and a ledger that follows it, in a database of the test's own."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from baohuang.database.pool import Pool
from baohuang.embedded.nats import EmbeddedNats
from baohuang.eventlog.postgres.log import open_log
from scoring.following import Ledger, rated
from scoring.recording import Recorder
from scoring_service.wiring import open_ledger


@pytest.fixture
async def recorder(own_database_dsn: str) -> AsyncIterator[Recorder]:
    """Give what appends to an empty log."""
    async with open_log(own_database_dsn) as log:
        yield Recorder(log)


@pytest.fixture
async def pool(own_database_dsn: str) -> AsyncIterator[Pool]:
    """Give connections to the empty ledger, as the scoring service has them."""
    async with await open_ledger(own_database_dsn) as opened:
        yield opened


@pytest.fixture
async def ledger(own_database_dsn: str, pool: Pool) -> AsyncIterator[Ledger]:
    """Give the empty ledger."""
    async with Ledger.of(own_database_dsn, pool) as made:
        yield made


@pytest.fixture
async def nats(tmp_path: Path) -> AsyncIterator[EmbeddedNats]:
    """Give a server that is not started yet; removed in the end."""
    server = EmbeddedNats(tmp_path)
    yield server
    await server.destroy()


@pytest.fixture
async def url(nats: EmbeddedNats) -> str:
    """Give the URL of the server, which runs."""
    return await nats.start()


@pytest.fixture
async def kept(recorder: Recorder, ledger: Ledger, own_database_dsn: str) -> str:
    """Give the DSN of a database in which ledger and ratings have followed the log."""
    await recorder.record_some(14)
    await ledger.follow()
    await rated(own_database_dsn, ledger)
    return own_database_dsn
