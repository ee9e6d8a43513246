"""The SDK's client of matchmaking: from a ticket to a seat, whatever becomes of calls and streams in between."""

import asyncio
from contextlib import aclosing
from typing import Any, Final, cast

import asyncpg
import grpc
import pytest

from baohuang.client import (
    DevelopmentIdentity,
    MalformedError,
    MatchmakingClient,
    MoveRefusedError,
    NotFoundError,
    Patience,
    TicketId,
    TicketState,
    UnreachableError,
    connect_matchmaking,
)
from baohuang.embedded.ports import free_port
from baohuang.rules.rulesets import Options
from baohuang.rules.state import PlayerId
from client.in_process import HASTY, LosesFirstReply
from matchmaking.serving import Service, matchmaking
from tables.replicas import Replica

FIVE: Final = tuple(map(PlayerId, ("an", "bo", "chen", "deng", "er")))


def client(service: Service, player: str = "an") -> MatchmakingClient:
    return MatchmakingClient(service.channel, DevelopmentIdentity(PlayerId(player)), HASTY)


async def test_from_a_ticket_to_a_seat(service: Service) -> None:
    """Three friends by their leader's code and two alone: watched until they sit at one table, each at his seat."""
    leader = client(service)
    ticket = await leader.create_ticket("ourgame-simple", size=3)
    assert (ticket.state, ticket.party.size, ticket.party.players) == (TicketState.QUEUED, 3, ("an",))
    tickets = {PlayerId("an"): ticket}
    for friend in FIVE[1:3]:
        tickets[friend] = await client(service, friend).join_party(ticket.party.party_code)
    for other in FIVE[3:]:
        tickets[other] = await client(service, other).create_ticket("ourgame-simple")
    closed = await asyncio.gather(*(client(service, who).closed(one.ticket_id) for who, one in tickets.items()))
    seats = [one.matched for one in closed if one.matched]
    assert {one.state for one in closed} == {TicketState.MATCHED}
    assert len({seat.table_id for seat in seats}) == 1
    assert [seat.players[seat.seat] for seat in seats] == list(FIVE)


async def test_a_queue_is_told_and_left(service: Service) -> None:
    """Who waits is counted in the queue of his options; a cancelled ticket is closed, and its watch ends with it."""
    options = Options(turn_seconds=60)
    ticket = await client(service).create_ticket("ourgame-simple", options)
    assert ticket.waiting is not None
    assert (ticket.waiting.place, ticket.party.options.turn_seconds) == (1, 60)
    assert (await client(service).queue("ourgame-simple", options)).players == 1
    assert (await client(service).queue("ourgame-simple")).players == 0
    async with aclosing(client(service).watch(ticket.ticket_id)) as changes:
        assert (await anext(changes)).revision == ticket.revision
        assert (await client(service).cancel_ticket(ticket.ticket_id)).state is TicketState.CANCELLED
        assert [one.state async for one in changes][-1] is TicketState.CANCELLED


async def test_refusals_are_typed(service: Service) -> None:
    """A second ticket, a code of no party, no such ruleset, another's ticket: each has its class."""
    ticket = await client(service).create_ticket("ourgame-simple")
    with pytest.raises(MoveRefusedError, match="ALREADY_QUEUED") as queued:
        await client(service).create_ticket("ourgame-simple")
    assert queued.value.metadata == {"ticket_id": ticket.ticket_id}
    with pytest.raises(NotFoundError, match="NO_SUCH_PARTY"):
        await client(service, "bo").join_party("no code of anybody's")
    with pytest.raises(MalformedError) as malformed:
        await client(service, "bo").create_ticket("bridge")
    assert [violation.field for violation in malformed.value.violations] == ["new_party.ruleset"]
    with pytest.raises(NotFoundError, match="NO_SUCH_TICKET"):
        await client(service, "bo").closed(ticket.ticket_id)
    with pytest.raises(NotFoundError, match="NO_SUCH_TICKET"):
        await client(service).cancel_ticket(TicketId("none"))


async def test_a_lost_reply_is_asked_for_again(service: Service) -> None:
    """Making and cancelling whose replies are lost: sent again as they were, carried out once."""
    loser = LosesFirstReply()
    address = f"127.0.0.1:{service.port}"
    async with grpc.aio.insecure_channel(address, interceptors=[cast("Any", loser)]) as channel:
        losing = MatchmakingClient(channel, DevelopmentIdentity(PlayerId("an")), HASTY)
        ticket = await losing.create_ticket("ourgame-simple")
        assert (await losing.cancel_ticket(ticket.ticket_id)).ticket_id == ticket.ticket_id
    assert loser.lost == loser.retried
    assert len({request.request_id for request in loser.lost}) == 2


async def test_without_an_answer_the_request_id_can_be_used_later(service: Service) -> None:
    """UnreachableError has the id; the same call under it makes the ticket, and again gives the same one."""
    patience = Patience(attempts=2, call_seconds=0.3, first_wait_seconds=0.01)
    nowhere = connect_matchmaking(f"127.0.0.1:{free_port()}", DevelopmentIdentity(PlayerId("an")), patience)
    async with nowhere as unanswered:
        with pytest.raises(UnreachableError) as unreachable:
            await unanswered.create_ticket("ourgame-simple")
    request_id = unreachable.value.request_id
    first = await client(service).create_ticket("ourgame-simple", request_id=request_id)
    assert await client(service).create_ticket("ourgame-simple", request_id=request_id) == first


async def test_a_watch_outlives_replicas(own_database_dsn: str, tables: Replica, database: asyncpg.Connection) -> None:
    """Sent away by one that drains, it waits for the next at that address, which tells what has changed meanwhile."""
    port = free_port()
    async with matchmaking(own_database_dsn, tables.address, port=port) as first:
        ticket = await client(first).create_ticket("ourgame-simple", size=2)
        connected = connect_matchmaking(f"127.0.0.1:{port}", DevelopmentIdentity(PlayerId("an")), HASTY)
        watching = await connected.__aenter__()
        changes = watching.watch(ticket.ticket_id)
        assert await anext(changes) == ticket
        following = asyncio.create_task(anext(changes))
    await database.execute("update tickets set revision = revision + 1")
    async with matchmaking(own_database_dsn, tables.address, port=port):
        assert (await following).revision == ticket.revision + 1
        await changes.aclose()
        await connected.__aexit__(None, None, None)
