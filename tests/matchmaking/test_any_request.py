"""Thousands of requests for tickets that nobody would send: every method, whoever calls, whatever it holds."""

import math
from collections import Counter
from collections.abc import AsyncIterator

import asyncpg
import grpc
import pytest
from structlog.testing import capture_logs

from bench.random_player import chance_of
from matchmaking.serving import Service, matchmaking
from tables.fuzzing import fire_all, methods_of
from tables.messages import AnyMessage
from tables.replicas import Replica
from tables.shooting import Shooting, caller_of, check

REQUESTS = 2_500
BATCH = 125
PLAYERS = tuple(f"player-{number:02}" for number in range(25))
TRADED = 40
"""Ids and codes of others that requests are made with, the newest."""


@pytest.fixture
async def unhurried(own_database_dsn: str, tables: Replica) -> AsyncIterator[Service]:
    """Give a matchmaking service that lets anybody ask as often as he likes."""
    async with matchmaking(own_database_dsn, tables.address, rate_limit_per_second=math.inf) as serving:
        yield serving


async def carried_out(database: asyncpg.Connection) -> set[tuple[str, str]]:
    """Return callers and ids of all requests that had an effect."""
    return {
        (row["caller"], row["request_id"]) for row in await database.fetch("select caller, request_id from requests")
    }


async def test_any_request_gets_a_clear_answer(unhurried: Service, database: asyncpg.Connection) -> None:
    """Never INTERNAL, never UNKNOWN, nothing logged as a failure; what was not accepted has had no effect.

    Tickets are those that accepted requests made, and none that nobody cancelled by an accepted request is cancelled.
    Every method is reached by what is sound and by what is not.
    """
    dice, statuses = chance_of("any request for a ticket"), Counter[tuple[str, grpc.StatusCode]]()
    making = AnyMessage(dice, ["-"])
    shooting = Shooting(dice, making, await methods_of(unhurried.channel))
    shooting.players = PLAYERS
    accepted: set[tuple[str, str]] = set()
    creating, cancelling = set[tuple[str, str]](), set[tuple[str, str]]()
    with capture_logs() as lines:
        for _ in range(REQUESTS // BATCH):
            await trade(making, database)
            shots = [shooting.shot() for _ in range(BATCH)]
            for shot, result in zip(shots, await fire_all(unhurried.channel, shots), strict=True):
                check(shot, result)
                statuses[shot.method.name, result.code] += 1
                these = {(caller_of(shot), request_id) for request_id in result.accepted}
                accepted |= these
                creating |= these if shot.method.name == "CreateTicket" else set()
                cancelling |= these if shot.method.name == "CancelTicket" else set()
            assert await carried_out(database) <= accepted
    assert not [line for line in lines if line["log_level"] == "error"]
    made = await database.fetch("select player, state from tickets")
    assert {row["player"] for row in made} <= {player for player, _ in creating}
    assert len(made) <= len(creating)
    assert sum(row["state"] == "cancelled" for row in made) <= len(cancelling) * 5
    assert (
        await database.fetch("select player from tickets where state = 'queued' group by 1 having count(*) > 1") == []
    )
    for method in await methods_of(unhurried.channel):
        assert statuses[method.name, grpc.StatusCode.OK], f"{method.name} was never answered"
        assert statuses[method.name, grpc.StatusCode.INVALID_ARGUMENT], f"{method.name} was never malformed"


async def trade(making: AnyMessage, database: asyncpg.Connection) -> None:
    """Have requests made with the ids and codes that there are."""
    tickets = await database.fetch("select ticket_id from tickets order by made_at desc limit $1", TRADED)
    parties = await database.fetch(
        "select code from parties where code is not null order by opened_at desc limit $1", TRADED
    )
    making.likely["ticket_id"] = [row["ticket_id"] for row in tickets] or ["-"]
    making.likely["party_code"] = [row["code"] for row in parties] or ["-"]
