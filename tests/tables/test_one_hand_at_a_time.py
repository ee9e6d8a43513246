"""A player has a seat in at most one unfinished hand, and a banned one in none, however many replicas race (FINE-6)."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import grpc
import pytest

from baohuang.eventlog.codec import decode
from baohuang.eventlog.port import StreamId
from baohuang.eventlog.postgres.log import open_log
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.rules.events import HandStarted, PlayerUnseated
from baohuang.rules.state import UnseatingReason, in_progress
from bench.random_player import chance_of
from tables.clients import Client, Refused, fresh, ready, sit, stand
from tables.games import PLAYERS, Game, opened, seated, started
from tables.replicas import Replica, replica

OTHERS = ("fu", "gao", "han", "ji")
"""With `an` they make a second table of five."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two replicas over one database."""

    a: Replica
    b: Replica


@pytest.fixture
async def pair(own_database_dsn: str) -> AsyncIterator[Pair]:
    """Give two replicas, each with a pool of its own."""
    async with (
        open_log(own_database_dsn) as first,
        open_log(own_database_dsn) as second,
        replica(first) as a,
        replica(second) as b,
    ):
        yield Pair(a, b)


def operator(service: Replica) -> Client:
    """Return an operator's client."""
    client = Client(service.channel, "olga")
    client.metadata = (*client.metadata, ("baohuang-role", "operator"))
    return client


def ban(player: str, *, banned: bool = True) -> pb.SetBanRequest:
    """Ask to ban a player, or to lift his ban."""
    return pb.SetBanRequest(request_id=fresh(), player=player, banned=banned, reason="cheated")


def forfeit(game: Game) -> pb.ForfeitSeatRequest:
    """Ask to give one's seat up."""
    return pb.ForfeitSeatRequest(request_id=fresh(), table_id=game.table_id)


async def all_but_last(game: Game) -> None:
    """Get all ready but the last."""
    for client in game.clients[:-1]:
        await client.call(ready(game.table_id))


async def unseated(game: Game) -> list[tuple[str, UnseatingReason]]:
    """Return who was unseated, and why."""
    events = [decode(one.type, one.data) for one in await game.events()]
    return [(event.player, event.reason) for event in events if isinstance(event, PlayerUnseated)]


def busy(game: Game, refused: Refused) -> bool:
    """Tell whether a call was refused since its caller plays at that table, and he is told at which."""
    told = {"rule": "FINE-6", "table_id": game.table_id}
    return (refused.code, refused.reason, refused.metadata) == (
        grpc.StatusCode.FAILED_PRECONDITION, "IN_ANOTHER_HAND", told
    )  # fmt: skip


async def test_who_plays_a_hand_sits_nowhere_else(either: Replica) -> None:
    """Neither SitDown nor SetReady; he is told where he plays; the hand over, he may."""
    other = await seated(either, players=("an", *OTHERS))
    game = await started(either)
    third = await opened(either)
    before = await third.head()
    assert busy(game, await game.clients[0].refused(sit(third.table_id, 0)))
    assert busy(game, await game.clients[0].refused(ready(other.table_id)))
    assert await third.head() == before
    await game.play(chance_of("one hand at a time"))
    await game.clients[0].call(sit(third.table_id, 0))
    await game.clients[0].call(ready(other.table_id))


async def test_a_forfeit_sets_its_player_free_and_nobody_else(either: Replica) -> None:
    """FINE-2: the trustee plays on; leaving does not set free (FINE-1)."""
    game, other = await started(either), await opened(either)
    await game.clients[1].call(pb.LeaveTableRequest(request_id=fresh(), table_id=game.table_id))
    assert busy(game, await game.clients[1].refused(sit(other.table_id, 1)))
    await game.clients[1].call(forfeit(game))
    await game.clients[1].call(sit(other.table_id, 1))
    assert busy(game, await game.clients[2].refused(sit(other.table_id, 2)))
    assert in_progress(await game.table())


async def test_an_operators_end_of_a_hand_sets_all_free(either: Replica) -> None:
    """RULE-1: void, and everybody may sit elsewhere."""
    game, other = await started(either), await opened(either)
    request = pb.VoidHandRequest(request_id=fresh(), table_id=game.table_id, reason="no light")
    await operator(either).call(request)
    for seat, client in enumerate(game.clients):
        await client.call(sit(other.table_id, seat))


async def test_the_fifth_to_get_ready_unseats_who_plays_elsewhere(either: Replica) -> None:
    """He is ready, no hand begins; the seat is free for another, with whom it does."""
    other = await seated(either, players=(*OTHERS, "an"))
    await other.clients[4].call(ready(other.table_id))
    await started(either)
    for client in other.clients[:4]:
        await client.call(ready(other.table_id))
    assert await unseated(other) == [("an", UnseatingReason.IN_ANOTHER_HAND)]
    table = await other.table()
    assert [seat.ready for seat in table.seats] == [True] * 4 + [False]
    sixth = Client(either.channel, "kong")
    await sixth.call(sit(other.table_id, 4))
    await sixth.call(ready(other.table_id))
    assert in_progress(await other.table())


async def test_two_hands_at_once_with_one_player_in_both(pair: Pair) -> None:
    """Both fifth calls at the same moment on two replicas, again and again: one hand each time, the loser unseats."""
    for number in range(6):
        names = [f"{name}{number}" for name in (*PLAYERS, *OTHERS)]
        first = await seated(pair.a, players=names[:5])
        second = await seated(pair.b, players=(names[0], *names[5:]))
        for game in (first, second):
            await all_but_last(game)
        await asyncio.gather(*(game.clients[4].call(ready(game.table_id)) for game in (first, second)))
        hands = [in_progress(await game.table()) for game in (first, second)]
        assert sorted(hands) == [False, True]
        loser = second if hands[0] else first
        assert await unseated(loser) == [(names[0], UnseatingReason.IN_ANOTHER_HAND)]


async def test_sitting_down_as_a_hand_begins(pair: Pair) -> None:
    """On two replicas at one moment: whoever is seated elsewhere before the hand is not ready there, so all is well.

    What never happens: he sits down after the hand has begun.
    """
    for number in range(6):
        names = [f"{name}{number}" for name in PLAYERS]
        game, other = await seated(pair.a, players=names), await opened(pair.b, players=names)
        await all_but_last(game)
        player = Client(pair.b.channel, names[0])
        sitting = asyncio.create_task(player.call(sit(other.table_id, 0)))
        await game.clients[4].call(ready(game.table_id))
        await asyncio.wait((sitting,))
        assert in_progress(await game.table())
        if sitting.exception():
            assert (await other.table()).seats[0].player == ""
        positions = {event.type: event.position for event in await game.events()}
        sat = [event.position for event in await other.events() if event.type == "PlayerSat"]
        assert all(position < positions[HandStarted.__name__] for position in sat)


async def test_a_banned_player_neither_sits_down_nor_plays(either: Replica) -> None:
    """RULE-1: BANNED at once on every replica; the fifth's SetReady unseats him; a hand that he plays goes on."""
    game, judge = await seated(either), operator(either)
    await all_but_last(game)
    await judge.call(ban("bo"))
    refused = await game.clients[1].refused(ready(game.table_id))
    assert (refused.code, refused.reason) == (grpc.StatusCode.PERMISSION_DENIED, "BANNED")
    await game.clients[4].call(ready(game.table_id))
    assert await unseated(game) == [("bo", UnseatingReason.BANNED)]
    assert (await game.clients[1].refused(sit(game.table_id, 1))).reason == "BANNED"
    await judge.call(ban("bo", banned=False))
    await game.clients[1].call(sit(game.table_id, 1))
    await game.clients[1].call(ready(game.table_id))
    await judge.call(ban("bo"))
    assert in_progress(await game.table())
    await game.step(chance_of("banned"))


async def test_a_ban_is_one_event_for_one_request(either: Replica) -> None:
    """A retry gets the first outcome, another body is refused, twenty at once are one; each refusal has its reason."""
    judge, request = operator(either), ban("mei")
    replies = await asyncio.gather(*(judge.call(request) for _ in range(20)))
    assert {(reply.player, reply.version, reply.hash) for reply in replies} == {("mei", 1, replies[0].hash)}
    assert (await judge.refused(ban("mei"))).reason == "ALREADY_BANNED"
    assert (await judge.refused(ban("ning", banned=False))).reason == "NOT_BANNED"
    request.reason = "another"
    assert (await judge.refused(request)).reason == "REQUEST_ID_REUSED"
    assert [event.type for event in await either.log.read_stream(StreamId("player:mei"))] == ["PlayerBanned"]
    assert (await Client(either.channel, "an").refused(ban("bo"))).reason == "PERMISSION_DENIED"
    for field, value in (("player", ""), ("player", "a b"), ("reason", ""), ("reason", "x" * 201), ("reason", "\0")):
        bad = ban("oma")
        setattr(bad, field, value)
        assert (await judge.refused(bad)).fields == (field,)


async def test_bans_are_in_no_listing(either: Replica) -> None:
    """ListTables shows tables only."""
    await operator(either).call(ban("pu"))
    listed = await Client(either.channel, "an").call(pb.ListTablesRequest())
    assert not [table for table in listed.tables if table.table_id.startswith("player:")]


async def test_an_operator_closes_a_table(either: Replica) -> None:
    """Not during a hand, and for good; a player may not; the reason is kept."""
    game, judge = await started(either), operator(either)
    close = pb.CloseTableRequest(request_id=fresh(), table_id=game.table_id, reason="the evening is over")
    assert (await game.clients[0].refused(close)).reason == "PERMISSION_DENIED"
    assert (await judge.refused(close)).reason == "HAND_IN_PROGRESS"
    void = pb.VoidHandRequest(request_id=fresh(), table_id=game.table_id, reason="no light")
    first = await judge.call(void)
    assert await judge.call(void) == first
    await judge.call(close)
    types = [(event.type, decode(event.type, event.data)) for event in await game.events()]
    notes = [getattr(event, "note", "") for _, event in types]
    assert [note for note in notes if note] == ["no light", "the evening is over"]
    assert (await game.clients[0].refused(sit(game.table_id, 0))).reason == "TABLE_CLOSED"
    assert (await game.clients[0].refused(stand(game.table_id))).reason == "TABLE_CLOSED"
    again = pb.VoidHandRequest(request_id=fresh(), table_id=game.table_id, reason="x")
    assert (await judge.refused(again)).reason == "WRONG_PHASE"
    again.reason = ""
    assert (await judge.refused(again)).fields == ("reason",)
