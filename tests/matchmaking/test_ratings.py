"""Ratings of those who wait: from the rating service, and without it."""

import asyncio
from typing import Any, cast

import grpc

from baohuang.gen.matchmaking.v1 import matchmaking_service_pb2 as pb
from baohuang.rpc.server import RpcServer
from baohuang.rpc.settings import ServerSettings
from baohuang.rules.state import PlayerId
from matchmaking.processes import nobody_there
from matchmaking.serving import SERVICE, matchmaking
from matchmaking_service.ratings import RatingsByCall
from matchmaking_service.wiring import channel_to
from rating_service.wiring import SERVICES as RATING_SERVICES
from rating_service.wiring import open_ratings, register
from scoring.serving import channel_to as served
from tables.replicas import Replica

FIVE = ("ma", "mb", "mc", "md", "me")


async def test_the_rating_service_is_away(own_database_dsn: str, tables: Replica) -> None:
    """Nobody answers at its address: everybody counts as a newcomer, and matches are made."""
    async with (
        channel_to(nobody_there()) as rating,
        matchmaking(own_database_dsn, tables.address, RatingsByCall(rating, SERVICE)) as service,
    ):
        tickets = [await service.caller(player).queue() for player in FIVE]
        assert (await service.caller("ma").until_closed(tickets[0].ticket_id)).state == pb.TICKET_STATE_MATCHED


async def test_the_rating_service_is_silent(own_database_dsn: str, tables: Replica) -> None:
    """It takes calls and never answers: each round waits for it a moment and goes on."""

    async def say_nothing(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await closing.wait()
        writer.close()

    closing = asyncio.Event()
    silent = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    async with (
        channel_to(f"127.0.0.1:{port}") as rating,
        matchmaking(own_database_dsn, tables.address, RatingsByCall(rating, SERVICE)) as service,
    ):
        tickets = [await service.caller(player).queue() for player in FIVE]
        assert (await service.caller("ma").until_closed(tickets[0].ticket_id)).state == pb.TICKET_STATE_MATCHED
    closing.set()
    silent.close()


class Counting(grpc.aio.UnaryUnaryClientInterceptor):  # type: ignore[type-arg] # generic in the stubs only
    """Notes of how many players each call asks."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    async def intercept_unary_unary(self, continuation: Any, client_call_details: Any, request: Any) -> Any:
        """Note it, and make the call."""
        self.asked.append(len(request.players))
        return await continuation(client_call_details, request)


async def test_many_tickets_ask_for_ratings_together(own_database_dsn: str, tables: Replica) -> None:
    """Fifty players who come at once are asked for in a few calls and each of them once."""
    counting, pool = Counting(), await open_ratings(own_database_dsn)
    server = RpcServer(ServerSettings(insecure_dev=True, refuse_seconds=0.0), "127.0.0.1:0")
    register(server, pool)
    port = await server.start(*RATING_SERVICES)
    async with (
        grpc.aio.insecure_channel(f"127.0.0.1:{port}", interceptors=[cast("Any", counting)]) as rating,
        matchmaking(own_database_dsn, tables.address, RatingsByCall(rating, SERVICE)) as service,
    ):
        made = await asyncio.gather(*(service.caller(f"p{number}").queue() for number in range(50)))
        await asyncio.gather(
            *(service.caller(f"p{number}").until_closed(one.ticket_id) for number, one in enumerate(made))
        )
    await server.drain()
    await pool.close()
    assert sum(counting.asked) == 50
    assert len(counting.asked) <= 10


async def test_ratings_are_those_of_the_rating_service(own_database_dsn: str) -> None:
    """Asked over gRPC; and kept for a while, so that a database that is gone does not matter at once."""
    players = [PlayerId(player) for player in FIVE[:3]]
    pool = await open_ratings(own_database_dsn)
    async with served(lambda server: register(server, pool), *RATING_SERVICES) as rating:
        ratings = RatingsByCall(rating, SERVICE)
        assert await ratings.of(players[:2]) == {"ma": 25.0, "mb": 25.0}
        await pool.close()
        assert await ratings.of(players[1:]) == {"mb": 25.0}
