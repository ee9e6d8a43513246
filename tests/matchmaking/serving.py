"""Matchmaking services in this process, each a real gRPC server on loopback, and callers of them."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message

from baohuang.gen.matchmaking.v1 import matchmaking_service_pb2 as pb
from baohuang.gen.matchmaking.v1 import matchmaking_service_pb2_grpc
from baohuang.gen.rules.v1 import ruleset_pb2
from baohuang.rpc.credentials import Metadata
from baohuang.rpc.server import RpcServer
from baohuang.rpc.settings import ServerSettings
from matchmaking_service.forming import Pace
from matchmaking_service.opening import Tables
from matchmaking_service.ratings import NoRatings, Ratings
from matchmaking_service.watching import Watching
from matchmaking_service.wiring import SERVICES, channel_to, open_tickets, serving
from tables.clients import Refused, refusal

SECONDS = 20.0
EOF = grpc.aio.EOF  # type: ignore[attr-defined] # missing in the stubs
PACE = Pace(poll=0.1)
SERVICE = (("baohuang-player", "matchmaking"), ("baohuang-role", "service"))


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who calls; a request's type names its method."""

    channel: grpc.aio.Channel
    player: str
    role: str = "player"

    def start(self, request: Message) -> Any:
        """Start the call, to be awaited or, for WatchTicket, iterated."""
        stub = matchmaking_service_pb2_grpc.MatchmakingServiceStub(self.channel)
        method = getattr(stub, type(request).__name__.removesuffix("Request"))
        who = (("baohuang-player", self.player), ("baohuang-role", self.role))
        return method(request, metadata=who, timeout=SECONDS)

    async def call(self, request: Message) -> Any:
        """Make the call and give its reply. Raises AioRpcError."""
        return await self.start(request)

    async def refused(self, request: Message) -> Refused:
        """Make a call that has to be refused, and tell how it was."""
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await self.call(request)
        return refusal(caught.value)

    async def queue(self, **party: Any) -> pb.Ticket:
        """Make a ticket for a party of his own."""
        ticket: pb.Ticket = (await self.call(alone(**party))).ticket
        return ticket

    async def until_closed(self, ticket_id: str) -> pb.Ticket:
        """Watch a ticket until it is closed, and return what became of it."""
        last = pb.Ticket()
        async for message in self.start(pb.WatchTicketRequest(ticket_id=ticket_id)):
            if message.WhichOneof("message") == "ticket":
                last = message.ticket
        assert last.state != pb.TICKET_STATE_QUEUED
        return last


@dataclass(frozen=True, slots=True)
class Service:
    """A serving replica, and a channel to it."""

    watching: Watching
    server: RpcServer
    port: int
    channel: grpc.aio.Channel

    def caller(self, player: str, role: str = "player") -> Caller:
        """Return somebody who calls this replica."""
        return Caller(self.channel, player, role)


@asynccontextmanager
async def matchmaking(
    dsn: str,
    table_address: str,
    ratings: Ratings | None = None,
    pace: Pace = PACE,
    port: int = 0,
    *,
    known_by: Metadata = SERVICE,
    **settings: float,
) -> AsyncIterator[Service]:
    """Serve matchmaking over a database, on the port, until the end of the block; then drain.

    It is known to the table service by the metadata `known_by`.
    """
    wanted = {"insecure_dev": True, "drain_grace_seconds": 0.5, "refuse_seconds": 0.0, **settings}
    server = RpcServer(ServerSettings.model_validate(wanted), f"127.0.0.1:{port}")
    async with (
        await open_tickets(dsn) as pool,
        channel_to(table_address) as tables,
        serving(server, pool, Tables(tables, known_by), ratings or NoRatings(), pace) as watching,
    ):
        bound = await server.start(*SERVICES)
        try:
            async with grpc.aio.insecure_channel(f"127.0.0.1:{bound}") as channel:
                yield Service(watching, server, bound, channel)
        finally:
            await server.drain()


async def news(stream: Any) -> Any:
    """Read what comes next of a ticket's stream, past signs of life: they may come at any time. EOF at its end."""
    while (message := await stream.read()) is not EOF and message.HasField("waiting"):
        pass
    return message


def fresh() -> str:
    """Make up a request id."""
    return secrets.token_hex(8)


def alone(ruleset: str = "ourgame-simple", size: int = 1, **options: Any) -> pb.CreateTicketRequest:
    """Ask for a ticket, with a party of one's own."""
    party = pb.NewParty(ruleset=ruleset, size=size, options=ruleset_pb2.Options(**options))
    return pb.CreateTicketRequest(request_id=fresh(), new_party=party)


def joining(code: str) -> pb.CreateTicketRequest:
    """Ask for a ticket with the party of a code."""
    return pb.CreateTicketRequest(request_id=fresh(), party_code=code)


def cancelling(ticket_id: str) -> pb.CancelTicketRequest:
    """Ask to cancel a ticket."""
    return pb.CancelTicketRequest(request_id=fresh(), ticket_id=ticket_id)


def paced(**changes: float) -> Pace:
    """Return the pace of these tests with changes."""
    return replace(PACE, **changes)
