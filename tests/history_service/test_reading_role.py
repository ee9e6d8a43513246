"""What the database has to grant to who reads the record: one role, which changes nothing."""

import secrets
from collections.abc import AsyncIterator

import asyncpg
import psycopg
import pytest
from google.protobuf.message import Message
from psycopg import sql
from sqlalchemy import make_url

from audit.honest import Play, recorded
from baohuang.audit.log import LogAudit
from baohuang.audit.survey import open_survey
from baohuang.eventlog.port import EventLog
from baohuang.eventlog.postgres.log import open_reader
from baohuang.eventlog.postgres.schema import HISTORY, READERS
from baohuang.gen.history.v1 import history_service_pb2 as pb
from baohuang.rules.state import TableId
from databases import Server
from history_service.serving import history

TABLE = "00000000-0000-7000-8000-000000000000"


@pytest.fixture
async def dsn_of_login(postgres_server: Server, own_database_dsn: str) -> AsyncIterator[str]:
    """Give the DSN of a login that is a member of one role, and of nothing else."""
    name, password = f"looker_{secrets.token_hex(6)}", secrets.token_hex(16)
    with psycopg.connect(postgres_server.dsn, autocommit=True) as admin:
        made = sql.SQL("create role {} login password {} in role {}")
        admin.execute(made.format(sql.Identifier(name), sql.Literal(password), sql.Identifier(HISTORY)))
        yield make_url(own_database_dsn).set(username=name, password=password).render_as_string(hide_password=False)
        admin.execute(sql.SQL("drop role {}").format(sql.Identifier(name)))


@pytest.fixture
async def table(log: EventLog) -> str:
    """Record a table with rulings."""
    await recorded(log, Play(TableId(TABLE), "homy-qingdao", 1, restless=0.1), hands=1)
    return TABLE


async def test_history_alone_needs_one_role_that_only_reads(dsn_of_login: str, table: str) -> None:
    """Every method is answered, as everybody: nothing wants more than that login has."""
    async with history(dsn_of_login) as spectator:
        for caller in (spectator, spectator.named("bo"), spectator.operator):
            rulings = await caller.call(pb.ListRulingsRequest(table_id=table))
            assert rulings.rulings
            version = rulings.rulings[0].recorded.version
            assert (await caller.call(pb.ExplainRulingRequest(table_id=table, version=version))).judgement.follows
            assert await caller.stream(pb.StreamEventsRequest(filter=pb.EventFilter(table_id=table)))
            for request in reading(table):
                assert await caller.call(request) != type(await caller.call(request))()
        assert not (await spectator.operator.call(pb.VerifyTableRequest(table_id=table))).findings


def reading(table: str) -> list[Message]:
    """Give what else there is to ask for."""
    return [
        pb.ListEventsRequest(filter=pb.EventFilter(table_id=table, player="bo", since="2020-01-01T00:00:00Z")),
        pb.ListRulingsRequest(player="bo", table_id=table),
        pb.ListRulingsRequest(clause="TRUST-1", table_id=table),
        pb.GetTableAtRequest(table_id=table, version=10),
        pb.GetTableAtRequest(table_id=table, instant="2100-01-01T00:00:00Z"),
        pb.ExportHandRequest(table_id=table, hand=1),
    ]


async def test_verification_needs_no_more(dsn_of_login: str, table: str) -> None:
    """Of the whole log, positions and checkpoints included."""
    async with open_reader(dsn_of_login, readers=1) as log, open_survey(dsn_of_login) as survey:
        audit = LogAudit(log)
        assert [finding async for finding in audit.whole(survey)] == []
        assert audit.tally.events > 100
        assert [one async for one in survey.checkpoints()] == []


async def test_such_a_login_changes_nothing(dsn_of_login: str, table: str) -> None:
    """Nor acts as the role that appends; the public view's role, of which it is no member, is no part of it."""
    session = await asyncpg.connect(dsn_of_login)
    try:
        for statement in (
            "set role baohuang_app",
            f"set role {READERS}",
            "delete from eventlog.events",
            "update eventlog.heads set version = 1",
            "select eventlog.append_dated(null, null, null, null)",
            "insert into eventlog.rulings_about values ('bo', 1)",
        ):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await session.execute(statement)
    finally:
        await session.close()


async def test_without_the_role_it_does_not_start(dsn_of_login: str, own_database_dsn: str) -> None:
    """It is told at the start, and which role it is."""
    admin = await asyncpg.connect(own_database_dsn)
    try:
        await admin.execute(f"revoke {HISTORY} from {make_url(dsn_of_login).username}")
    finally:
        await admin.close()
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match=HISTORY):
        async with history(dsn_of_login):
            raise AssertionError("it serves")
