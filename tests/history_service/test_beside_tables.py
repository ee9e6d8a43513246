"""HistoryService where tables are served, and alone: on a database that takes no writes, ReverseRuling sent on."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import grpc
import pytest

from baohuang.eventlog.port import EventLog
from baohuang.gen.history.v1 import history_service_pb2 as pb
from baohuang.gen.table.v1 import table_service_pb2 as table_pb
from baohuang.rpc.server import RpcServer
from bench.random_player import chance_of
from history_service.serving import Caller, history
from table_service.settings import TableSettings
from table_service.wiring import wired
from tables.clients import fresh
from tables.games import Game, started
from tables.replicas import Replica


@asynccontextmanager
async def read_only(dsn: str) -> AsyncIterator[str]:
    """Have the database take no writes from new sessions, as a replica does; give its DSN."""
    session = await asyncpg.connect(dsn)
    name = await session.fetchval("select quote_ident(current_database())")
    await session.execute(f"alter database {name} set default_transaction_read_only = on")
    try:
        yield dsn
    finally:
        await session.execute(f"alter database {name} reset default_transaction_read_only")
        await session.close()


async def written(dsn: str) -> None:
    """Write to the database."""
    session = await asyncpg.connect(dsn)
    try:
        await session.execute("delete from eventlog.timers")
    finally:
        await session.close()


@pytest.fixture
async def tables(own_database_dsn: str) -> AsyncIterator[Caller]:
    """Give somebody who calls a table service as it is put together for a process."""
    settings = TableSettings.model_validate(
        {"insecure_dev": True, "postgres_dsn": own_database_dsn, "drain_grace_seconds": 0.5, "refuse_seconds": 0.0}
    )
    server = RpcServer(settings, settings.table_listen)
    async with wired(server, settings):
        port = await server.start()
        try:
            async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
                yield Caller(channel, f"127.0.0.1:{port}")
        finally:
            await server.drain()


async def everything(caller: Caller, game: Game) -> dict[str, object]:
    """Return what every method tells an operator of a game in which somebody was fined, but ReverseRuling."""
    table_id, operator = game.table_id, caller.operator
    rulings = (await operator.call(pb.ListRulingsRequest(table_id=table_id))).rulings
    fined = next(one.recorded.version for one in rulings if one.recorded.type == "PlayerFined")
    requests = [
        pb.ListEventsRequest(filter=pb.EventFilter(table_id=table_id), page_size=1000),
        pb.GetTableAtRequest(table_id=table_id, version=fined),
        pb.ExplainRulingRequest(table_id=table_id, version=fined),
        pb.VerifyTableRequest(table_id=table_id),
        pb.ExportHandRequest(table_id=table_id, hand=1),
    ]
    told = {type(request).__name__: await operator.call(request) for request in requests}
    streamed = await operator.stream(pb.StreamEventsRequest(filter=pb.EventFilter(table_id=table_id)))
    return {**told, "rulings": list(rulings), "streamed": streamed}


async def forfeited(service: Replica) -> Game:
    """Play a hand in which somebody gives his seat up."""
    game = await started(service)
    await game.clients[2].call(table_pb.ForfeitSeatRequest(request_id=fresh(), table_id=game.table_id))
    await game.play(chance_of("forfeited"))
    return game


async def test_both_ways_tell_the_same(service: Replica, log: EventLog, tables: Caller, own_database_dsn: str) -> None:
    """Beside the tables, and alone on a database that is read only: every method, to the last bit; nothing is wrong."""
    game = await forfeited(service)
    beside = await everything(tables, game)
    assert beside["VerifyTableRequest"] == pb.VerifyTableResponse(events=len(await game.events()))
    async with read_only(own_database_dsn) as dsn, history(dsn) as alone:
        with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
            await written(dsn)
        assert await everything(alone, game) == beside


async def test_a_reversal_is_sent_on_in_its_callers_name(service: Replica, own_database_dsn: str) -> None:
    """The answer, a retry's too, and every refusal are the table service's; players are turned away at once."""
    game = await forfeited(service)
    async with history(own_database_dsn, service.address) as alone:
        fined = (await alone.call(pb.ListRulingsRequest(table_id=game.table_id, kinds=["PlayerFined"]))).rulings[0]
        request = pb.ReverseRulingRequest(
            request_id=fresh(), table_id=game.table_id, version=fined.recorded.version, reason="an outage"
        )
        refused = await alone.refused(request)
        assert (refused.code, refused.metadata) == (grpc.StatusCode.PERMISSION_DENIED, {"roles": "operator"})
        done = await alone.operator.call(request)
        assert await alone.operator.call(request) == done
        head = await game.head()
        assert (done.version, done.hash) == (head.version, head.hash)
        assert (await game.events())[-1].actor == "olga"
        (again,) = (await alone.call(pb.ListRulingsRequest(table_id=game.table_id, kinds=["PlayerFined"]))).rulings
        assert again.reversed_by == done.version
        request.request_id = fresh()
        refused = await alone.operator.refused(request)
        assert (refused.reason, refused.metadata) == ("ALREADY_REVERSED", {"rule": "RULE-1"})
        request.reason = ""
        assert (await alone.operator.refused(request)).fields == ("reason",)


async def test_a_table_service_that_is_not_there(own_database_dsn: str) -> None:
    """A reversal that cannot be sent on is UNAVAILABLE, to be repeated; all else is answered."""
    request = pb.ReverseRulingRequest(
        request_id=fresh(), table_id="00000000-0000-0000-0000-000000000000", version=1, reason="an outage"
    )
    async with history(own_database_dsn) as alone:
        refused = await alone.operator.refused(request)
        assert (refused.code, refused.reason) == (grpc.StatusCode.UNAVAILABLE, "LOG_UNAVAILABLE")
        assert (await alone.operator.call(pb.ListEventsRequest())) == pb.ListEventsResponse()
