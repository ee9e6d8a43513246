"""A log of a week, as operators ask it."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import asyncpg
import psycopg
import pytest
from psycopg import sql

from baohuang.eventlog.port import StoredEvent
from baohuang.eventlog.postgres.log import open_log
from baohuang.eventlog.postgres.schema import OPERATORS
from databases import Server
from operators.nights import record_week


@pytest.fixture(scope="session")
def week_database(postgres_server: Server, template_database: str) -> Iterator[str]:
    """Give the name of a database with the log of a week, to copy and to read, never to write to."""
    with postgres_server.database(template_database) as name:
        asyncio.run(_record(postgres_server.dsn_of(name)))
        yield name


async def _record(dsn: str) -> None:
    async with open_log(dsn) as log:
        await record_week(log)


@pytest.fixture(scope="session")
def week_dsn(postgres_server: Server, week_database: str) -> str:
    """Give the superuser's DSN of that database."""
    return postgres_server.dsn_of(week_database)


@pytest.fixture(scope="session")
def week(week_dsn: str) -> list[StoredEvent]:
    """Give every event of that log, in order."""
    return asyncio.run(_read(week_dsn))


async def _read(dsn: str) -> list[StoredEvent]:
    async with open_log(dsn, readers=1) as log:
        return list(await log.read_all(limit=100_000))


@dataclass(frozen=True, slots=True)
class Login:
    """An operator's own login, made as docs/operations.md has it."""

    name: str
    password: str

    async def session(self, dsn: str) -> asyncpg.Connection:
        """Connect to the database of a DSN as this operator."""
        return await asyncpg.connect(dsn, user=self.name, password=self.password, server_settings={"timezone": "UTC"})


@pytest.fixture(scope="session")
def login(postgres_server: Server, template_database: str) -> Iterator[Login]:
    """Give an operator's login."""
    made = Login(f"ana_{secrets.token_hex(6)}", secrets.token_hex(16))
    name = sql.Identifier(made.name)
    with psycopg.connect(postgres_server.dsn, autocommit=True) as admin:
        admin.execute(
            sql.SQL("create role {} login password {} in role {}").format(
                name, sql.Literal(made.password), sql.Identifier(OPERATORS)
            )
        )
    yield made
    with psycopg.connect(postgres_server.dsn, autocommit=True) as admin:
        admin.execute(sql.SQL("drop role {}").format(name))


@pytest.fixture
async def reader(week_dsn: str, login: Login) -> AsyncIterator[asyncpg.Connection]:
    """Give an operator's session of the week's database."""
    connection = await login.session(week_dsn)
    yield connection
    await connection.close()
