"""Trusteeship, leaving, forfeiting and kicking on live tables (sections 6 and 7)."""

from random import Random
from typing import TypeVar

import grpc

from baohuang.eventlog.codec import decode
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.rules.events import Event, PlayerFined, TableDissolved, TrusteeshipEntered, TrusteeshipMadePermanent
from baohuang.rules.phases.asking import seats_to_act
from baohuang.rules.state import FineReason, Phase, TableStatus, TrusteeshipReason
from tables.clients import Client, fresh, open_table, sit
from tables.games import Game, started
from tables.replicas import Replica

_E = TypeVar("_E", bound=Event)


def trustee(game: Game, *, active: bool = True) -> pb.SetTrusteeshipRequest:
    """Ask for the trustee, or for the seat back."""
    return pb.SetTrusteeshipRequest(request_id=fresh(), table_id=game.table_id, active=active)


async def of(game: Game, kind: type[_E]) -> list[_E]:
    """Return the table's events of one kind."""
    events = [decode(stored.type, stored.data) for stored in await game.events()]
    return [event for event in events if isinstance(event, kind)]


async def test_a_player_asks_for_the_trustee_who_acts_at_once(service: Replica) -> None:
    """TRUST-1, TRUST-2: the seat whose turn it is acts in the same append; cancelled, it is the player's again."""
    game = await started(service)
    (seat,) = seats_to_act(await game.hand())
    await game.clients[seat].call(trustee(game))
    hand = await game.hand()
    assert hand.trusteeships[seat].active
    assert hand.phase is not Phase.CROWN
    (entered,) = await of(game, TrusteeshipEntered)
    assert (entered.seat, entered.reason, entered.rule) == (seat, TrusteeshipReason.REQUESTED, "TRUST-1")
    assert entered.rests_on
    await game.clients[seat].call(trustee(game, active=False))
    assert not (await game.hand()).trusteeships[seat].active


async def test_what_cannot_be_asked_for_is_refused(service: Replica) -> None:
    """Outside a hand, twice, without need, and by a stranger: each with its own reason, and nothing is stored."""
    game = await started(service)
    await game.clients[0].call(trustee(game))
    before = await game.head()
    assert (await game.clients[0].refused(trustee(game))).reason == "ALREADY_TRUSTEE"
    assert (await game.clients[1].refused(trustee(game, active=False))).reason == "NOT_TRUSTEE"
    stranger = await Client(service.channel, "zoe").refused(trustee(game))
    assert (stranger.code, stranger.reason) == (grpc.StatusCode.PERMISSION_DENIED, "NOT_SEATED")
    assert await game.head() == before


async def test_the_fourth_trusteeship_is_permanent(service: Replica) -> None:
    """TRUST-3: three can be cancelled; the fourth is a ruling of its own, resting on the fourth entry."""
    game = await started(service)
    player = game.clients[3]
    for _ in range(3):
        await player.call(trustee(game))
        await player.call(trustee(game, active=False))
    await player.call(trustee(game))
    refused = await player.refused(trustee(game, active=False))
    assert (refused.reason, refused.metadata["rule"]) == ("PERMANENT_TRUSTEESHIP", "TRUST-3")
    (ruling,) = await of(game, TrusteeshipMadePermanent)
    types = [event.type for event in await game.events()]
    assert [types[version - 1] for version in ruling.rests_on] == ["TrusteeshipEntered"]


async def test_leaving_is_no_fine_and_one_may_come_back(service: Replica) -> None:
    """FINE-1: LeaveTable during a hand is trusteeship; the player takes the seat back until the hand ends."""
    game = await started(service)
    await game.clients[2].call(pb.LeaveTableRequest(request_id=fresh(), table_id=game.table_id))
    (entered,) = await of(game, TrusteeshipEntered)
    assert (entered.seat, entered.reason) == (2, TrusteeshipReason.LEFT)
    await game.clients[2].call(trustee(game, active=False))
    assert not (await game.hand()).trusteeships[2].active
    assert await of(game, PlayerFined) == []


async def test_forfeiting_is_fined_at_once_and_for_good(service: Replica) -> None:
    """FINE-2, FINE-3: -20 before the roles are settled; the seat is the trustee's to the end; no other is touched."""
    game = await started(service)
    forfeit = pb.ForfeitSeatRequest(request_id=fresh(), table_id=game.table_id)
    first = await game.clients[4].call(forfeit)
    assert await game.clients[4].call(forfeit) == first
    hand = await game.hand()
    assert hand.fines == (0, 0, 0, 0, -20)
    assert [standing.active for standing in hand.trusteeships] == [False] * 4 + [True]
    assert (await game.clients[4].refused(trustee(game, active=False))).metadata["rule"] == "FINE-2"
    again = pb.ForfeitSeatRequest(request_id=fresh(), table_id=game.table_id)
    assert (await game.clients[4].refused(again)).reason == "ALREADY_FORFEITED"


async def test_only_an_operator_kicks(service: Replica) -> None:
    """FINE-2, FINE-3: a player may not; an operator takes the seat, at -40 once the roles are settled."""
    game = await started(service)
    await game.reach(Phase.PLAY, Random(1))  # noqa: S311 - no secret
    kick = pb.KickPlayerRequest(request_id=fresh(), table_id=game.table_id, seat=1)
    refused = await game.clients[0].refused(kick)
    assert (refused.code, refused.reason) == (grpc.StatusCode.PERMISSION_DENIED, "PERMISSION_DENIED")
    operator = Client(service.channel, "olga")
    operator.metadata = (*operator.metadata, ("baohuang-role", "operator"))
    await operator.call(kick)
    (fined,) = await of(game, PlayerFined)
    assert (fined.seat, fined.player, fined.points, fined.reason) == (1, "bo", -40, FineReason.KICKED)
    assert fined.rests_on
    bad = await operator.refused(pb.KickPlayerRequest(request_id=fresh(), table_id=game.table_id, seat=5))
    assert (bad.reason, bad.fields) == ("NO_SUCH_SEAT", ("seat",))


async def test_a_hand_that_ends_with_a_trustee_dissolves_the_table(service: Replica) -> None:
    """TRUST-4: the table is closed for good, and its players are free to sit elsewhere."""
    game = await started(service)
    await game.clients[0].call(pb.LeaveTableRequest(request_id=fresh(), table_id=game.table_id))
    await game.play(Random(3))  # noqa: S311 - no secret
    (ruling,) = await of(game, TableDissolved)
    assert ruling.trustees == (0,)
    table = await game.table()
    assert table.status is TableStatus.DISSOLVED
    assert not any(seat.player for seat in table.seats)
    assert (await game.clients[1].refused(sit(game.table_id, 1))).reason == "TABLE_CLOSED"
    listed = await game.clients[1].call(pb.ListTablesRequest(player="bo"))
    assert game.table_id not in [listing.table_id for listing in listed.tables]
    other = await game.clients[1].call(open_table())
    await game.clients[1].call(sit(other.table_id, 1))
