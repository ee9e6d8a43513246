"""A real nats-server, and a schema with the tables of a relay and a consumer."""

import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from baohuang.database.pool import Identity, Limits, Pool, open_pool
from baohuang.embedded.nats import EmbeddedNats
from baohuang.stream.schema import consumer_tables, relay_tables

PATIENT = Limits(lock_ms=20_000, statement_ms=30_000, idle_in_transaction_ms=60_000)
"""For a machine that is busy with other tests."""


@pytest.fixture
async def nats_server(tmp_path: Path) -> AsyncIterator[EmbeddedNats]:
    """Give a server that is not started yet; removed in the end."""
    server = EmbeddedNats(tmp_path)
    yield server
    await server.destroy()


@pytest.fixture
async def nats_url(nats_server: EmbeddedNats) -> str:
    """Give the URL of a server that runs."""
    return await nats_server.start()


@pytest.fixture
async def pool(database_dsn: str) -> AsyncIterator[Pool]:
    """Give connections whose schema, the test's own, has the tables of a relay and a consumer, and one for effects."""
    schema = f"following_{secrets.token_hex(6)}"
    admin = await asyncpg.connect(database_dsn)
    await admin.execute(f"create schema {schema}")
    await admin.execute(f"grant usage on schema {schema} to baohuang_app")
    await admin.execute(f"set search_path to {schema}")
    await admin.execute(relay_tables("baohuang_app"))
    await admin.execute(consumer_tables("baohuang_app"))
    await admin.execute("create table effects (place bigint generated always as identity, number bigint, body text)")
    await admin.execute("grant select, insert on effects to baohuang_app")
    await admin.close()
    identity = Identity("tests of the stream", "baohuang_app", schema)
    async with await open_pool(database_dsn, 8, PATIENT, identity) as opened:
        yield opened
