"""An operator takes rulings back over gRPC: once, on any replica, and nothing else becomes of the table (RULE-1)."""

import asyncio

import grpc
import pytest

from baohuang.eventlog.codec import decode
from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.postgres.log import open_log
from baohuang.gen.history.v1 import history_service_pb2
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.rules import events as ev
from baohuang.rules.state import TableStatus
from bench.random_player import chance_of
from tables.changes import fine, operator
from tables.clients import Client, fresh, refusal
from tables.games import Game, opened, seated, started
from tables.logs import Meeting
from tables.replicas import Replica, replica

WHY = "his line was cut by us"


def reverse(game: Game, version: int, reason: str = WHY) -> history_service_pb2.ReverseRulingRequest:
    """Ask to take a ruling back."""
    return history_service_pb2.ReverseRulingRequest(
        request_id=fresh(), table_id=game.table_id, version=version, reason=reason
    )


async def version_of(game: Game, kind: type[ev.Event]) -> int:
    """Return the version of the last event of a kind."""
    return [event.version for event in await game.events() if event.type == kind.__name__][-1]


async def all_trustees(service: Replica) -> Game:
    """Have a hand played by trustees: it is void, and the table dissolved (TRUST-4)."""
    game = await started(service)
    for client in game.clients:
        await client.call(pb.SetTrusteeshipRequest(request_id=fresh(), table_id=game.table_id, active=True))
    assert (await game.table()).status is TableStatus.DISSOLVED
    return game


async def test_a_fine_is_taken_back_during_the_hand(either: Replica) -> None:
    """One event, which everybody is shown; turn and deadline are as before, and the hand goes on."""
    game = await started(either)
    fined = await fine(game)
    before, stream = await game.hand(), Client(either.channel, "zoe").watch(game.table_id)
    snapshot = await anext(stream.__aiter__())
    reply = await operator(either).call(reverse(game, fined))
    assert (reply.table_id, reply.version) == (game.table_id, snapshot.snapshot.version + 1)
    stored = (await game.events())[-1]
    assert (stored.version, stored.hash, stored.actor) == (reply.version, reply.hash, "olga")
    event = decode(stored.type, stored.data)
    assert isinstance(event, ev.FineReversed)
    assert (event.player, event.points, event.reverses, event.note) == (before.players[3], 20, fined, WHY)
    update = (await anext(stream.__aiter__())).update
    assert update.event.fine_reversed.points == 20
    hand = await game.hand()
    assert (hand.turn, hand.due_at, hand.turn_version, hand.fines) == (
        before.turn, before.due_at, before.turn_version, before.fines,
    )  # fmt: skip
    await game.play(chance_of("goes on"))


async def test_both_are_taken_back_at_a_dissolved_table(either: Replica) -> None:
    """The void and a fine of its hand, long after: the table stays closed, and nothing is due there."""
    game = await started(either)
    fined = await fine(game)
    for seat in (0, 1, 2, 4):
        await game.clients[seat].call(pb.SetTrusteeshipRequest(request_id=fresh(), table_id=game.table_id, active=True))
    finished = next(decode(one.type, one.data) for one in await game.events() if one.type == "HandFinished")
    assert isinstance(finished, ev.HandFinished)
    await operator(either).call(reverse(game, await version_of(game, ev.HandVoided)))
    await operator(either).call(reverse(game, fined))
    *_, void_reversed, fine_reversed = [decode(one.type, one.data) for one in await game.events()]
    assert isinstance(fine_reversed, ev.FineReversed)
    assert isinstance(void_reversed, ev.VoidReversed)
    assert (void_reversed.places, void_reversed.emperor) == (finished.places, finished.emperor)
    assert void_reversed.players == finished.players
    assert (await game.table()).status is TableStatus.DISSOLVED
    assert not await either.log.claim_due(10, 1.0)


async def test_a_retry_gets_the_first_outcome(either: Replica) -> None:
    """Twenty at once are one event; another body under the id is refused; the same ruling again is as well."""
    game, judge = await all_trustees(either), operator(either)
    voided = await version_of(game, ev.HandVoided)
    request = reverse(game, voided)
    replies = await asyncio.gather(*(judge.call(request) for _ in range(20)))
    assert len({(reply.version, reply.hash) for reply in replies}) == 1
    assert (await judge.refused(reverse(game, voided))).reason == "ALREADY_REVERSED"
    request.reason = "another"
    assert (await judge.refused(request)).reason == "REQUEST_ID_REUSED"
    request.version += 1
    assert (await judge.refused(request)).reason == "REQUEST_ID_REUSED"
    assert (await game.head()).version == replies[0].version


@pytest.mark.parametrize("kind", [ev.PlayerFined, ev.HandVoided])
async def test_two_operators_at_two_replicas(own_database_dsn: str, kind: type[ev.Event]) -> None:
    """Both decided that it may be taken back before either is stored: one is stored, and the other is told so."""
    barrier = asyncio.Barrier(2)
    async with open_log(own_database_dsn) as first, open_log(own_database_dsn) as second:
        logs = [Meeting(one, barrier) for one in (first, second)]
        async with replica(logs[0]) as a, replica(logs[1]) as b:
            game = await (all_trustees(a) if kind is ev.HandVoided else started(a))
            version = await (version_of(game, kind) if kind is ev.HandVoided else fine(game))
            for log in logs:
                log.meeting = True
            judges = [operator(one) for one in (a, b)]
            outcomes = await asyncio.gather(
                *(judge.call(reverse(game, version)) for judge in judges), return_exceptions=True
            )
            (refused,) = [refusal(one) for one in outcomes if isinstance(one, grpc.aio.AioRpcError)]
            assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "ALREADY_REVERSED")
            assert [log.meeting for log in logs] == [False, False]
            kinds = [event.type for event in await game.events()]
            assert kinds.count("FineReversed") + kinds.count("VoidReversed") == 1


async def test_a_reversal_and_a_move_at_once(own_database_dsn: str) -> None:
    """Both decided on the same table, on two replicas: both are stored, one after the other."""
    barrier = asyncio.Barrier(2)
    async with open_log(own_database_dsn) as first, open_log(own_database_dsn) as second:
        logs = [Meeting(one, barrier) for one in (first, second)]
        async with replica(logs[0]) as a, replica(logs[1]) as b:
            game = await started(a)
            fined = await fine(game)
            for log in logs:
                log.meeting = True
            chance = chance_of("both at once")
            move, taken_back = await asyncio.gather(game.step(chance), operator(b).call(reverse(game, fined)))
            assert move.version != taken_back.version
            assert (await game.head()).version == max(move.version, taken_back.version)
            assert (await game.hand()).reversible[0].reversed_by == taken_back.version


async def test_what_is_refused(either: Replica) -> None:
    """Not to players; only a fine or the void of a hand that was played; the clause is named, nothing changes."""
    game, judge = await started(either), operator(either)
    fined = await fine(game)
    version = (await game.head()).version
    denied = await game.clients[3].refused(reverse(game, fined))
    assert (denied.code, denied.reason) == (grpc.StatusCode.PERMISSION_DENIED, "PERMISSION_DENIED")
    for wrong, reason in ((1, "NOT_A_RULING"), (9_999, "NOT_A_RULING"), (fined + 1, "NOT_REVERSIBLE")):
        refused = await judge.refused(reverse(game, wrong))
        assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, reason)
        assert refused.metadata["rule"] == "RULE-1"
    for field, value in (("reason", ""), ("reason", " "), ("reason", "x" * 201), ("reason", "\0"), ("version", 0),
                         ("version", -1), ("request_id", "")):  # fmt: skip
        bad = reverse(game, fined)
        setattr(bad, field, value)
        refused = await judge.refused(bad)
        assert (refused.code, refused.fields) == (grpc.StatusCode.INVALID_ARGUMENT, (field,))
    assert (await game.head()).version == version


async def test_no_such_table(service: Replica) -> None:
    """NO_SUCH_TABLE, of a text that is no id as well, and of a player's own stream."""
    game = await opened(service)
    for table_id in ("0" * 36, "nowhere", "player:bo"):
        request = reverse(game, 1)
        request.table_id = table_id
        assert (await operator(service).refused(request)).reason == "NO_SUCH_TABLE"


async def test_a_void_of_an_operator_stays(service: Replica) -> None:
    """NOT_REVERSIBLE: the hand was not played to its end; so in the hand after it, too."""
    game, judge = await started(service), operator(service)
    await judge.call(pb.VoidHandRequest(request_id=fresh(), table_id=game.table_id, reason="no light"))
    voided = await version_of(game, ev.HandVoided)
    assert (await judge.refused(reverse(game, voided))).reason == "NOT_REVERSIBLE"
    await game.all_ready()
    assert (await judge.refused(reverse(game, voided))).reason == "NOT_REVERSIBLE"


async def test_a_replica_that_never_saw_the_hand(log: MemoryLog) -> None:
    """Rebuilt from the log, a table knows what can be taken back, and what was."""
    async with replica(log) as first:
        game = await all_trustees(first)
        voided = await version_of(game, ev.HandVoided)
    async with replica(log) as second:
        await operator(second).call(reverse(game, voided))
    async with replica(log) as third:
        assert (await operator(third).refused(reverse(game, voided))).reason == "ALREADY_REVERSED"
        view = (await operator(third).call(pb.GetTableRequest(table_id=game.table_id))).table
        assert [(one.version, one.HasField("seat"), one.reversed_by) for one in view.hand.reversible] == [
            (voided, False, view.version)
        ]


async def test_a_table_without_a_hand(service: Replica) -> None:
    """NOT_A_RULING: nothing at it is one."""
    game = await seated(service)
    assert (await operator(service).refused(reverse(game, 2))).reason == "NOT_A_RULING"
