"""Tables that a service opens for five players: all of them sit from the beginning, or there is no table."""

import asyncio

import grpc
import pytest

from baohuang.gen.table.v1 import table_service_pb2 as pb
from tables.clients import Client, fresh, ready
from tables.games import PLAYERS, started
from tables.replicas import Replica

OTHERS = ("fu", "gao", "han", "ji")


def matchmaker(service: Replica) -> Client:
    """Return a service's client."""
    client = Client(service.channel, "matchmaker")
    client.metadata = (*client.metadata, ("baohuang-role", "service"))
    return client


def opening(*players: str) -> pb.OpenTableRequest:
    """Ask for a table of these players."""
    return pb.OpenTableRequest(request_id=fresh(), ruleset="ourgame-simple", players=players)


async def tables_of(client: Client) -> list[str]:
    """Return the ids of all tables."""
    return [table.table_id for table in (await client.call(pb.ListTablesRequest())).tables]


async def test_all_sit_and_play(either: Replica) -> None:
    """By seat, with a deadline to get ready; the fifth to be ready starts the hand, as at any table."""
    reply = await matchmaker(either).call(opening(*PLAYERS))
    assert [seat.player for seat in reply.table.seats] == list(PLAYERS)
    assert all(seat.due_at for seat in reply.table.seats)
    assert not reply.table.closes_at
    for player in PLAYERS:
        await Client(either.channel, player).call(ready(reply.table_id))
    view = (await Client(either.channel, PLAYERS[0]).call(pb.GetTableRequest(table_id=reply.table_id))).table
    assert list(view.hand.players) == list(PLAYERS)


async def test_a_retry_finds_the_same_table(either: Replica) -> None:
    """Many at once as well: one table, every answer the same."""
    request, client = opening(*PLAYERS), matchmaker(either)
    replies = await asyncio.gather(*(client.call(request) for _ in range(20)))
    assert len({(reply.table_id, reply.version) for reply in replies}) == 1
    assert await tables_of(client) == [replies[0].table_id]
    other = await client.refused(pb.OpenTableRequest(request_id=request.request_id, ruleset="ourgame-simple"))
    assert other.reason == "REQUEST_ID_REUSED"


async def test_a_busy_player_is_named(either: Replica) -> None:
    """There is no table, not even for the other four; where he plays is told to nobody else."""
    game = await started(either)
    refused = await matchmaker(either).refused(opening(*OTHERS, PLAYERS[2]))
    assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "IN_ANOTHER_HAND")
    assert refused.metadata == {"rule": "FINE-6", "player": PLAYERS[2]}
    assert await tables_of(matchmaker(either)) == [game.table_id]


async def test_a_banned_player_is_named(either: Replica) -> None:
    """There is no table; the ban lifted, there is."""
    olga = Client(either.channel, "olga")
    olga.metadata = (*olga.metadata, ("baohuang-role", "operator"))
    await olga.call(pb.SetBanRequest(request_id=fresh(), player="fu", banned=True, reason="cheated"))
    request = opening("an", *OTHERS)
    refused = await matchmaker(either).refused(request)
    assert (refused.code, refused.reason) == (grpc.StatusCode.PERMISSION_DENIED, "BANNED")
    assert refused.metadata == {"rule": "RULE-1", "player": "fu"}
    assert not await tables_of(olga)
    await olga.call(pb.SetBanRequest(request_id=fresh(), player="fu", banned=False, reason="he did not"))
    assert (await matchmaker(either).call(request)).table_id


async def test_players_and_operators_seat_nobody(service: Replica) -> None:
    """PERMISSION_DENIED, and no table."""
    for role in ("player", "operator"):
        client = Client(service.channel, "an")
        client.metadata = (*client.metadata, ("baohuang-role", role))
        refused = await client.refused(opening(*PLAYERS))
        assert (refused.code, refused.reason) == (grpc.StatusCode.PERMISSION_DENIED, "PERMISSION_DENIED")
    assert not await tables_of(matchmaker(service))


@pytest.mark.parametrize(
    ("players", "field"),
    [
        (PLAYERS[:4], "players"),
        ((*PLAYERS, "fu"), "players"),
        ((*PLAYERS[:4], PLAYERS[0]), "players"),
        ((*PLAYERS[:4], ""), "players[4]"),
        (("a b", *PLAYERS[1:]), "players[0]"),
    ],
)
async def test_who_cannot_be_five_players(service: Replica, players: tuple[str, ...], field: str) -> None:
    """INVALID_ARGUMENT, and the field is named."""
    refused = await matchmaker(service).refused(opening(*players))
    assert (refused.code, refused.fields) == (grpc.StatusCode.INVALID_ARGUMENT, (field,))


async def test_of_two_tables_at_once_both_seat_their_players(either: Replica) -> None:
    """Sitting is no hand yet: who sits at two tables plays at the one whose hand begins, and not at the other."""
    first, second = await asyncio.gather(*(matchmaker(either).call(opening(*PLAYERS)) for _ in range(2)))
    assert first.table_id != second.table_id
    for player in PLAYERS:
        await Client(either.channel, player).call(ready(first.table_id))
    busy = await Client(either.channel, PLAYERS[0]).refused(ready(second.table_id))
    assert busy.reason == "IN_ANOTHER_HAND"
