"""Events are added and never changed: the role may not, and nobody can."""

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from baohuang.eventlog.postgres.connections import Limits, open_pool
from baohuang.eventlog.postgres.log import PostgresLog
from eventlog.commands import grow, new_stream

CHANGES = [
    "update eventlog.events set type = 'Other'",
    "update eventlog.events set type = 'Other' where false",
    "delete from eventlog.events",
    "delete from eventlog.events where position = 1",
    "truncate eventlog.events",
]
TRESPASSES = [
    "update eventlog.requests set outcome = '{}'",
    "delete from eventlog.requests",
    "truncate eventlog.requests",
    "delete from eventlog.heads",
    "truncate eventlog.heads",
    "update eventlog.claims set stream_id = 'mine'",
    "truncate eventlog.claims",
    "insert into eventlog.counter values (7, true)",
    "delete from eventlog.counter",
    "alter table eventlog.events disable trigger events_are_append_only",
    "drop trigger events_are_append_only on eventlog.events",
    "drop table eventlog.events",
    "set session_replication_role = replica",
    "create table eventlog.other ()",
]


@pytest.fixture
async def some_events(postgres_log: PostgresLog) -> None:
    """Have something to change."""
    await grow(postgres_log, new_stream(), 3)


@pytest.fixture
async def service(database_dsn: str, some_events: None) -> AsyncIterator[Any]:
    """Give a connection as the services have it."""
    async with await open_pool(database_dsn, 1, Limits()) as pool, pool.acquire() as connection:
        yield connection


@pytest.fixture
async def superuser(database_dsn: str, some_events: None) -> AsyncIterator[Any]:
    """Give a connection that may do everything."""
    connection = await asyncpg.connect(database_dsn)
    yield connection
    await connection.close()


@pytest.mark.parametrize("statement", CHANGES + TRESPASSES)
async def test_the_services_role_may_not(service: Any, statement: str) -> None:
    """The role the services act as has no right to change or remove anything recorded, nor the rules that hold it."""
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await service.execute(statement)


@pytest.mark.parametrize("statement", CHANGES)
async def test_nor_does_a_superuser(superuser: Any, statement: str) -> None:
    """A trigger refuses changes of events to everybody, by a name to match on."""
    with pytest.raises(asyncpg.IntegrityConstraintViolationError) as caught:
        await superuser.execute(statement)
    assert caught.value.constraint_name == "events_are_append_only"


async def test_the_session_is_as_promised(service: Any) -> None:
    """Services act as `baohuang_app`, commit durably, and wait for nothing without end."""
    settings = (
        "role",
        "synchronous_commit",
        "lock_timeout",
        "statement_timeout",
        "idle_in_transaction_session_timeout",
    )
    found = [await service.fetchval("select current_setting($1)", name) for name in settings]
    assert found == ["baohuang_app", "on", "1s", "5s", "10s"]
