"""Deadlines of real replicas over a real database, in real time."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import datetime, timedelta
from pathlib import Path

import grpc
import pytest

from baohuang.eventlog.codec import decode
from baohuang.eventlog.port import Actor, StreamId
from baohuang.eventlog.postgres.log import PostgresLog, open_log
from baohuang.gen.rules.v1 import ruleset_pb2
from baohuang.rules.events import TrusteeshipEntered
from command_line.service_process import ServiceProcess
from command_line.services import TABLE
from eventually import eventually
from table_service.deadlines import CLOCK
from tables.clients import Client, open_table, ready, sit
from tables.games import PLAYERS

TURN_SECONDS = 5


@pytest.fixture
async def pair(own_database_dsn: str, tmp_path: Path) -> AsyncIterator[tuple[ServiceProcess, ServiceProcess]]:
    """Give two table services, processes of their own over one database."""
    environment = {"BAOHUANG_POSTGRES_DSN": own_database_dsn, "BAOHUANG_INSECURE_DEV": "true"}
    async with AsyncExitStack() as stack:
        homes = [tmp_path / name for name in ("a", "b")]
        services = [ServiceProcess(TABLE, home, environment) for home in homes]
        for home, service in zip(homes, services, strict=True):
            home.mkdir()
            await service.start()
            stack.push_async_callback(service.stop)
        yield services[0], services[1]


@pytest.fixture
async def durable_log(own_database_dsn: str) -> AsyncIterator[PostgresLog]:
    """Give the log under them."""
    async with open_log(own_database_dsn) as log:
        yield log


async def test_a_killed_replica_s_turns_expire_within_two_seconds(
    pair: tuple[ServiceProcess, ServiceProcess], durable_log: PostgresLog
) -> None:
    """The only replica that knows a table is killed in mid-turn: the other, which does not, expires the turn once."""
    known, other = pair
    async with grpc.aio.insecure_channel(known.address) as channel:
        clients = [Client(channel, player) for player in PLAYERS]
        opening = open_table()
        opening.options.CopyFrom(ruleset_pb2.Options(turn_seconds=TURN_SECONDS))
        table_id = (await clients[0].call(opening)).table_id
        for seat, client in enumerate(clients):
            await client.call(sit(table_id, seat))
        for client in clients:
            await client.call(ready(table_id))
    await known.kill()

    async def expired() -> list[TrusteeshipEntered]:
        stored = await durable_log.read_stream(StreamId(table_id))
        events = [decode(one.type, one.data) for one in stored if one.actor == Actor(CLOCK)]
        return [event for event in events if isinstance(event, TrusteeshipEntered)]

    (entered,) = await eventually(expired, within=TURN_SECONDS + 10)
    late = datetime.fromisoformat(entered.decided_at) - datetime.fromisoformat(entered.due_at)
    assert timedelta(0) <= late < timedelta(seconds=2)
    assert Counter(one.due_at for one in await expired())[entered.due_at] == 1
    assert other.address != known.address
