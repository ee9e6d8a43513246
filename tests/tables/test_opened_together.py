"""Tables that a service opens by one call: each by itself, whatever comes of the others."""

import asyncio

import grpc
import pytest

from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.rpc.errors import Reason
from table_service.opening import MOST_AT_ONCE
from tables.clients import Client, fresh
from tables.games import PLAYERS, started
from tables.replicas import Replica
from tables.test_opened_for_players import OTHERS, matchmaker, opening, tables_of


async def test_each_has_its_own_outcome(either: Replica) -> None:
    """In the order of the requests; a refusal says what OpenTable's would, and is nothing to the others."""
    game = await started(either)
    busy, wrong, fine = opening(*OTHERS, PLAYERS[2]), opening(*OTHERS[:3]), opening("li", *OTHERS)
    odd = pb.OpenTableRequest(request_id="a b", ruleset="ourgame-simple")
    reply = await matchmaker(either).call(pb.OpenTablesRequest(requests=[busy, wrong, odd, fine]))
    first, second, third, last = reply.answers
    assert first.refused.request_id == busy.request_id
    assert (first.refused.code, first.refused.reason) == (9, Reason.IN_ANOTHER_HAND)
    assert first.refused.metadata == {"rule": "FINE-6", "player": PLAYERS[2]}
    assert [(one.field, second.refused.code) for one in second.refused.field_violations] == [("players", 3)]
    assert [one.field for one in third.refused.field_violations] == ["request_id"]
    assert last.accepted.request_id == fine.request_id
    assert await tables_of(matchmaker(either)) == [last.accepted.table_id, game.table_id]


async def test_a_retry_finds_the_same_tables(either: Replica) -> None:
    """Together or one by one, many at once as well."""
    requests, client = [opening() for _ in range(10)], matchmaker(either)
    together = pb.OpenTablesRequest(requests=requests)
    replies = await asyncio.gather(*(client.call(together) for _ in range(5)))
    tables = [answer.accepted.table_id for answer in replies[0].answers]
    assert [[answer.accepted.table_id for answer in reply.answers] for reply in replies] == [tables] * 5
    assert [(await client.call(request)).table_id for request in requests] == tables
    assert sorted(await tables_of(client)) == sorted(tables)


async def test_two_with_one_request_id(either: Replica) -> None:
    """The same request twice opens one table; another under its id is refused."""
    request = opening()
    other = pb.OpenTableRequest(request_id=request.request_id, ruleset="homy-classic")
    client = matchmaker(either)
    reply = await client.call(pb.OpenTablesRequest(requests=[request, request]))
    assert len({answer.accepted.table_id for answer in reply.answers} - {""}) == 1
    (refused,) = (await client.call(pb.OpenTablesRequest(requests=[other]))).answers
    assert refused.refused.reason == Reason.REQUEST_ID_REUSED
    assert len(await tables_of(client)) == 1


@pytest.mark.parametrize("number", [0, MOST_AT_ONCE + 1])
async def test_none_or_too_many(service: Replica, number: int) -> None:
    """INVALID_ARGUMENT, and no table."""
    requests = [pb.OpenTableRequest(request_id=fresh(), ruleset="ourgame-simple") for _ in range(number)]
    refused = await matchmaker(service).refused(pb.OpenTablesRequest(requests=requests))
    assert (refused.code, refused.fields) == (grpc.StatusCode.INVALID_ARGUMENT, ("requests",))
    assert not await tables_of(matchmaker(service))


async def test_as_many_as_may_be(either: Replica) -> None:
    """All are opened."""
    requests = [pb.OpenTableRequest(request_id=fresh(), ruleset="ourgame-simple") for _ in range(MOST_AT_ONCE)]
    reply = await matchmaker(either).call(pb.OpenTablesRequest(requests=requests))
    assert len({answer.accepted.table_id for answer in reply.answers} - {""}) == MOST_AT_ONCE


async def test_players_and_operators_open_one_by_one(service: Replica) -> None:
    """PERMISSION_DENIED, and no table: their calls are counted, and this one is many."""
    for role in ("player", "operator"):
        client = Client(service.channel, "an")
        client.metadata = (*client.metadata, ("baohuang-role", role))
        refused = await client.refused(pb.OpenTablesRequest(requests=[opening()]))
        assert (refused.code, refused.reason) == (grpc.StatusCode.PERMISSION_DENIED, "PERMISSION_DENIED")
    assert not await tables_of(matchmaker(service))
