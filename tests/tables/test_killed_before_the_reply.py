import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest

from baohuang.eventlog.postgres.log import PostgresLog, open_log
from command_line.service_process import ServiceProcess
from command_line.services import Service
from eventually import eventually
from tables.changes import CHANGES, Change, outcome_of
from tables.clients import Client
from tables.persistent import QUICK
from tables.records import by_request
from tables.replicas import replica

COMMITTING = Service("committing", "tables.committing", "BAOHUANG_TABLE_LISTEN")
TESTS = Path(__file__).parents[1]


@pytest.fixture
async def dying(own_database_dsn: str, tmp_path: Path) -> AsyncIterator[ServiceProcess]:
    """Give a service that commits and never answers, over that database."""
    environment = {
        "BAOHUANG_POSTGRES_DSN": own_database_dsn,
        "BAOHUANG_INSECURE_DEV": "true",
        "PYTHONPATH": os.pathsep.join((os.environ.get("PYTHONPATH", ""), str(TESTS))),
    }
    process = ServiceProcess(COMMITTING, tmp_path, environment)
    await process.start()
    yield process
    await process.kill()


async def test_killed_between_the_commit_and_the_reply(own_database_dsn: str, dying: ServiceProcess) -> None:
    """One call of every method that changes something is committed and unanswered when the process is killed.

    Each retry, on another replica, gets the outcome of what was committed; nothing was stored twice, no table or ban
    is there that nobody was told of.
    """
    async with open_log(own_database_dsn) as log, replica(log) as living:
        changes = [await prepare(living) for prepare in CHANGES.values()]
        streams = len(await log.list_heads(limit=1000))
        async with grpc.aio.insecure_channel(dying.address, options=QUICK) as channel:
            calls = [asyncio.ensure_future(elsewhere(channel, change).call(change.request)) for change in changes]
            await eventually(lambda: all_stored(log, changes), within=30)
            await dying.kill()
            outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert all(isinstance(one, grpc.aio.AioRpcError) for one in outcomes)
        before = await log.read_all(limit=100_000)
        stored = by_request(before)
        for change in changes:
            last = stored[change.request.request_id][-1]
            assert outcome_of(await change.client.call(change.request)) == (last.stream_id, last.version, last.hash)
        assert await log.read_all(limit=100_000) == before
        assert len(await log.list_heads(limit=1000)) == streams + len({"OpenTable", "SetBan"})


def elsewhere(channel: grpc.aio.Channel, change: Change) -> Client:
    """Return who makes the change, on another connection."""
    client = Client(channel, change.client.player)
    client.metadata = change.client.metadata
    return client


async def all_stored(log: PostgresLog, changes: list[Change]) -> bool:
    """Tell whether all changes are in the log."""
    stored = by_request(await log.read_all(limit=100_000))
    return all(change.request.request_id in stored for change in changes)
