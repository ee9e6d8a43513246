"""What is stored of players: opaque ids and what they did, whatever came in beside it (docs/operations.md)."""

import json
import re
import socket
import subprocess
from pathlib import Path
from typing import Any, Final

import asyncpg
import grpc
from google.protobuf.json_format import ParseDict
from google.protobuf.message_factory import GetMessageClass

from baohuang.client import BearerToken, TicketState, connect, connect_matchmaking
from baohuang.embedded.postgres_binaries import installed_binaries
from baohuang.gen.table.v1 import table_service_pb2, table_service_pb2_grpc
from baohuang.rpc.auth import Caller, CallerId, Role
from baohuang.rules.rulesets import Options
from command_line.bots.runner import Bot
from command_line.development_key import DevelopmentKey
from contract.pairs import EVENT, message_of
from up.running import Up, dsn_of, up

_QUICK: Final = {"BAOHUANG_FILL_WITH_BOTS_AFTER": "0.5", "BAOHUANG_BOTS_THINK_SECONDS": "0.02"}
_CODE: Final = "correct-horse-battery"
_DEVICE: Final = "Pinephone-7c41"
_PEERS: Final = re.compile(
    r"\b127\.\d+\.\d+\.\d+|\b(?:10|172|192|169)\.\d+\.\d+\.\d+\b|\[?::1\]|ipv[46]:|localhost|grpc-|grpcio|user-agent"
    r"|authorization|bearer|eyJ[A-Za-z0-9_-]{8}",
    re.IGNORECASE,
)
"""Addresses, agents and tokens, as they would look in a dump."""
_MESSAGES: Final = {message_of(field).name: GetMessageClass(message_of(field)) for field in EVENT.fields}


async def test_ids_alone(data: Path) -> None:
    """After hands with bots, a private table and a ban: no address, device, agent, token or code in any column."""
    async with up(data, environment=_QUICK) as started:
        await started.ready()
        tokens = [await play_with_bots(started), await open_privately(started), await ban(started)]
        dump = whole_of(dsn_of(started))
        stored = await every_event(dsn_of(started))
    assert "HandFinished" in dump
    assert "PlayerBanned" in dump
    assert "invitationDigest" in dump
    assert sorted(set(_PEERS.findall(dump))) == []
    for secret in (_CODE, _DEVICE, socket.gethostname(), *tokens):
        assert secret not in dump
    for type_, document in stored:
        ParseDict(json.loads(document), _MESSAGES[type_]())  # refuses any key that the message does not have


async def play_with_bots(started: Up) -> str:
    """Play a hand from a ticket on, and give the token it was done with."""
    token = token_of(started, "me", Role.PLAYER)
    me = BearerToken(token)
    async with (
        connect(started.address, me) as tables,
        connect_matchmaking(started.address_of("matchmaking"), me) as queues,
    ):
        ticket = await queues.create_ticket("ourgame-simple", Options(bots=True))
        closed = await queues.closed(ticket.ticket_id)
        assert closed.state is TicketState.MATCHED
        assert closed.matched is not None
        bot = Bot(tables, closed.matched.seat)
        await bot.take_place(closed.matched.table_id, "my own luck")
        await bot.play_hand(closed.matched.table_id)
    return token


async def open_privately(started: Up) -> str:
    """Open a private table from a device that says what it is, and give the token."""
    token = token_of(started, "an", Role.PLAYER)
    told = (("authorization", f"Bearer {token}"), ("x-device", _DEVICE))
    async with grpc.aio.insecure_channel(started.address, options=[("grpc.primary_user_agent", _DEVICE)]) as channel:
        request = table_service_pb2.OpenTableRequest(
            request_id="open-1", ruleset="ourgame-simple", invitation_code=_CODE
        )
        await table_service_pb2_grpc.TableServiceStub(channel).OpenTable(request, metadata=told)
    return token


async def ban(started: Up) -> str:
    """Ban a player, as an operator, and give the operator's token."""
    token = token_of(started, "olga", Role.OPERATOR)
    async with grpc.aio.insecure_channel(started.address) as channel:
        request = table_service_pb2.SetBanRequest(request_id="ban-1", player="bo", banned=True, reason="he shouts")
        stub = table_service_pb2_grpc.TableServiceStub(channel)
        await stub.SetBan(request, metadata=(("authorization", f"Bearer {token}"),))
    return token


def token_of(started: Up, name: str, role: Role) -> str:
    """Return a token of the development key."""
    return DevelopmentKey.of(started.data).token(Caller(CallerId(name), role), 3600)


def whole_of(dsn: str) -> str:
    """Return every row of the database, as an operator would dump it."""
    binaries = installed_binaries()
    command = [str(binaries.prefix / "bin" / "pg_dump"), "--data-only", "--inserts", dsn]
    done = subprocess.run(command, check=True, env=binaries.environment, capture_output=True)  # noqa: S603
    return done.stdout.decode()


async def every_event(dsn: str) -> list[tuple[str, str]]:
    """Return the types and data of all events."""
    connection: Any = await asyncpg.connect(dsn)
    rows = await connection.fetch("select type, data::text from eventlog.events order by position")
    await connection.close()
    return [(row[0], row[1]) for row in rows]
