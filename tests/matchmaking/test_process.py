"""The service as a process, and before a table service that fails."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any, Final

import asyncpg
import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from structlog.testing import capture_logs

from baohuang.gen.matchmaking.v1 import matchmaking_service_pb2 as pb
from baohuang.gen.table.v1 import play_pb2
from baohuang.gen.table.v1 import table_service_pb2 as table_pb
from baohuang.rpc.server import RpcServer
from baohuang.rpc.settings import ServerSettings
from matchmaking.processes import nobody_there, running
from matchmaking.serving import alone, matchmaking, news
from matchmaking_service.wiring import SERVICES

INTERNAL: Final = 13


async def test_it_serves_and_drains(own_database_dsn: str) -> None:
    """Healthy; at SIGTERM watchers are sent away with their revision, and it exits with 0."""
    async with running(own_database_dsn, nobody_there()) as service:
        request = health_pb2.HealthCheckRequest(service=SERVICES[0])
        health = await health_pb2_grpc.HealthStub(service.channel).Check(request)
        assert health.status == health_pb2.HealthCheckResponse.SERVING
        ticket = await service.caller("an").queue()
        stream = service.caller("an").start(pb.WatchTicketRequest(ticket_id=ticket.ticket_id))
        assert (await stream.read()).ticket.party == ticket.party
        service.process.terminate()
        assert (await news(stream)).reconnect.revision == 1
        assert await stream.code() == grpc.StatusCode.OK
        assert await service.process.wait() == 0


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({}, "BAOHUANG_TABLE_ADDRESS: is not set"),
        ({"TABLE_ADDRESS": "127.0.0.1:1"}, "BAOHUANG_SERVICE_TOKEN is needed"),
        ({"TABLE_ADDRESS": "127.0.0.1:1", "SERVICE_TOKEN": "swordfish"}, "127.0.0.1:1 (BAOHUANG_POSTGRES_DSN)"),
    ],
)
async def test_one_that_cannot_run_says_why(variables: dict[str, str], said: str) -> None:
    """Exit code 1, no traceback and no secret."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("BAOHUANG_")}
    chosen = {f"BAOHUANG_{name}": text for name, text in variables.items()}
    dsn = {"BAOHUANG_POSTGRES_DSN": "postgresql://u:hunter2@127.0.0.1:1/none"}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "matchmaking_service.main", env=kept | chosen | dsn, stderr=asyncio.subprocess.PIPE
    )
    _, errors = await process.communicate()
    text = errors.decode()
    assert process.returncode == 1
    assert said in text
    assert not [word for word in ("Traceback", "hunter2", "swordfish") if word in text]


async def fail_whole(_request: table_pb.OpenTablesRequest, _context: Any) -> table_pb.OpenTablesResponse:
    """Break down."""
    raise RuntimeError("a bug")


async def fail_each(request: table_pb.OpenTablesRequest, _context: Any) -> table_pb.OpenTablesResponse:
    """Break down over each table by itself, as a table service does."""
    refused = (
        play_pb2.Refused(request_id=one.request_id, code=INTERNAL, reason="INTERNAL") for one in request.requests
    )
    return table_pb.OpenTablesResponse(answers=[table_pb.OpenTablesAnswer(refused=one) for one in refused])


def taking(take: Callable[[table_pb.OpenTablesRequest, Any], Awaitable[table_pb.OpenTablesResponse]]) -> Any:
    """Return the handlers of a table service that takes orders so."""
    codec = (table_pb.OpenTablesRequest.FromString, table_pb.OpenTablesResponse.SerializeToString)
    methods = {"OpenTables": grpc.unary_unary_rpc_method_handler(take, *codec)}
    return grpc.method_handlers_generic_handler("baohuang.table.v1.TableService", methods)


@pytest.mark.parametrize("fail", [fail_whole, fail_each])
async def test_a_table_service_that_fails_on_a_match(
    own_database_dsn: str, database: asyncpg.Connection, fail: Any
) -> None:
    """After some tries its players are set aside, not queued again, since they may sit there; others are unharmed."""
    server = RpcServer(ServerSettings(insecure_dev=True, refuse_seconds=0.0), "127.0.0.1:0")
    server.grpc.add_generic_rpc_handlers((taking(fail),))
    port = await server.start("baohuang.table.v1.TableService")
    async with matchmaking(own_database_dsn, f"127.0.0.1:{port}") as service:
        tickets = [await service.caller(player).queue() for player in ("an", "bo", "chen", "deng", "er")]
        closed = await service.caller("an").until_closed(tickets[0].ticket_id)
        assert (closed.state, closed.set_aside.reason) == (pb.TICKET_STATE_SET_ASIDE, "INTERNAL")
        assert (await service.caller("an").call(alone())).ticket.waiting.place == 1
    await server.drain()
    assert await database.fetchval("select count(*) from tickets where state = 'set_aside'") == 5


async def test_what_it_has_in_hand_it_gives_up_when_it_ends(
    own_database_dsn: str, database: asyncpg.Connection
) -> None:
    """A table is being opened when it ends: the match is free at once, not when its lease is over."""
    asked = asyncio.Event()

    async def hang(_request: table_pb.OpenTablesRequest, _context: Any) -> table_pb.OpenTablesResponse:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    server = RpcServer(ServerSettings(insecure_dev=True, refuse_seconds=0.0, drain_grace_seconds=0.1), "127.0.0.1:0")
    server.grpc.add_generic_rpc_handlers((taking(hang),))
    port = await server.start("baohuang.table.v1.TableService")
    async with matchmaking(own_database_dsn, f"127.0.0.1:{port}") as service:
        for player in ("an", "bo", "chen", "deng", "er"):
            await service.caller(player).queue()
        await asked.wait()
        # So that the lease does not end by itself, however busy the machine is.
        await database.execute("update matches set leased_until = clock_timestamp() + interval '1 hour'")
    assert await database.fetchval("select leased_until <= clock_timestamp() from matches where state = 'formed'")
    await server.drain()


async def test_its_end_says_nothing_of_tickets_that_were_made(own_database_dsn: str) -> None:
    """What was settled is settled: no line of the log tells that it was not."""
    with capture_logs() as lines:
        async with matchmaking(own_database_dsn, nobody_there()) as service:
            await service.caller("an").queue()
    assert [line for line in lines if line["event"] == "ticket not made"] == []
