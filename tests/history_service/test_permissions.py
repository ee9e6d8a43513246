"""Who may ask for what, and how what is asked amiss is refused."""

import grpc
import pytest
from google.protobuf.message import Message

from audit.honest import Writer
from baohuang.eventlog.port import EventLog, StreamId
from baohuang.gen.history.v1 import history_service_pb2 as pb
from baohuang.gen.table.v1 import table_service_pb2 as table_pb
from baohuang.rules import commands as cmd
from baohuang.rules.clock import deadline_of, later
from baohuang.rules.decide import decide
from baohuang.rules.rulesets import Options
from baohuang.rules.state import Instant, PlayerId, Table, TableId
from history_service.serving import Caller
from table_service.privacy import digest_of
from tables.clients import Client, fresh, open_table, sit, stand
from tables.games import Game, seated
from tables.replicas import Replica

CODE = "correct-horse-battery"
PRIVATE = "00000000-0000-7000-8000-000000000001"
NO_TABLE = "00000000-0000-0000-0000-000000000000"


def of_table(table_id: str, code: str = "") -> list[Message]:
    """Return a request of every kind that is for everybody, for one table; its version 1 is no ruling."""
    return [
        pb.ListEventsRequest(filter=pb.EventFilter(table_id=table_id), invitation_code=code),
        pb.StreamEventsRequest(filter=pb.EventFilter(table_id=table_id), invitation_code=code),
        pb.GetTableAtRequest(table_id=table_id, version=1, invitation_code=code),
        pb.ListRulingsRequest(table_id=table_id, invitation_code=code),
        pb.ExplainRulingRequest(table_id=table_id, version=1, invitation_code=code),
        pb.ExportHandRequest(table_id=table_id, hand=1, invitation_code=code),
    ]


async def outcomes(caller: Caller, requests: list[Message]) -> list[str]:
    """Return how each request ends: with the reason of its refusal, or with OK."""
    found = []
    for request in requests:
        try:
            await (caller.stream(request) if isinstance(request, pb.StreamEventsRequest) else caller.call(request))
        except grpc.aio.AioRpcError:
            found.append((await caller.refused(request)).reason)
        else:
            found.append("OK")
    return found


ANSWERED = ["OK", "OK", "OK", "OK", "NOT_A_RULING", "NO_SUCH_HAND"]


@pytest.fixture
async def private(service: Replica) -> Game:
    """Give a private table of an's, at which du came with the code, and left."""
    an, du = Client(service.channel, "an"), Client(service.channel, "du")
    opening = open_table()
    opening.invitation_code = CODE
    game = Game(service.log, (await an.call(opening)).table_id, (an, du))
    sitting = sit(game.table_id, 3)
    sitting.invitation_code = CODE
    await du.call(sitting)
    return game


async def test_a_private_table_is_there_for_those_who_belong_to_it(private: Game, spectator: Caller) -> None:
    """By every method; for others it is not, unless they show its code. Operators and services need none."""
    requests = of_table(private.table_id)
    for caller in (spectator.named("an"), spectator.named("du"), spectator.operator, spectator.named("m", "service")):
        assert await outcomes(caller, requests) == ANSWERED
    assert await outcomes(spectator, of_table(private.table_id, CODE)) == ANSWERED
    assert await outcomes(spectator, of_table(private.table_id, "wrong-horse-battery")) == ["NO_SUCH_TABLE"] * 6
    assert await outcomes(spectator, requests) == await outcomes(spectator, of_table(NO_TABLE))


async def test_what_is_of_oneself_stays_ones_own(private: Game, spectator: Caller) -> None:
    """Across tables, private ones included that he left; but not by that table, which is not there for him any more."""
    await private.clients[1].call(stand(private.table_id))
    du = spectator.named("du")
    own = await du.stream(pb.StreamEventsRequest(filter=pb.EventFilter(player="du")))
    assert [(one.table_id, one.type) for one in own] == [
        (private.table_id, "PlayerSat"),
        (private.table_id, "PlayerStood"),
    ]
    assert set(await outcomes(du, of_table(private.table_id))) == {"NO_SUCH_TABLE"}


async def left_behind(log: EventLog) -> None:
    """Record a private table at which du sat and was unseated, having not got ready in time."""
    writer, at = Writer(log, StreamId(PRIVATE)), Instant("2026-01-31T08:05:09.000000Z")
    opening = cmd.OpenTable(TableId(PRIVATE), "ourgame-simple", Options(), digest_of(TableId(PRIVATE), CODE))
    table = await done(writer, None, PlayerId("an"), opening, at)
    for player, seat in (("an", 0), ("du", 3)):
        at = later(at, 5)
        table = await done(writer, table, PlayerId(player), cmd.SitDown(seat), at)
    for _ in range(2):
        due_at = deadline_of(table)
        table = await done(writer, table, PlayerId("@clock"), cmd.ExpireDeadline(due_at), due_at)


async def done(writer: Writer, table: Table | None, player: PlayerId, action: cmd.Action, at: Instant) -> Table:
    """Record what comes of a command, and return the table."""
    events, tables = decide(table, cmd.Command(player, action, at, "11" * 32, frozenset(), frozenset()))
    await writer.append(player, at, tuple(events))
    return tables[-1]


async def test_who_was_ruled_on_may_ask_why(log: EventLog, spectator: Caller) -> None:
    """At a private table that is not there for him any more: his own ruling is explained to him, and nothing else."""
    await left_behind(log)
    du, bo = spectator.named("du"), spectator.named("bo")
    (ruling,) = (await du.call(pb.ListRulingsRequest(player="du"))).rulings
    assert (ruling.recorded.type, ruling.recorded.table_id) == ("PlayerUnseated", PRIVATE)
    why = pb.ExplainRulingRequest(table_id=PRIVATE, version=ruling.recorded.version)
    assert (await du.call(why)).judgement.follows
    assert (await bo.refused(why)).reason == "NO_SUCH_TABLE"
    assert set(await outcomes(du, of_table(PRIVATE))) == {"NO_SUCH_TABLE"}


async def test_without_a_table_only_what_is_of_oneself(service: Replica, spectator: Caller) -> None:
    """Everything, or what is of others, is for operators and services."""
    await seated(service)
    asked: list[Message] = []
    for player in ("", "bo"):
        sought = pb.EventFilter(player=player)
        asked += [pb.ListEventsRequest(filter=sought), pb.StreamEventsRequest(filter=sought)]
        asked.append(pb.ListRulingsRequest(player=player))
    assert await outcomes(spectator.named("an"), asked) == ["PERMISSION_DENIED"] * 6
    assert await outcomes(spectator.named("bo"), asked) == ["PERMISSION_DENIED"] * 3 + ["OK"] * 3
    assert await outcomes(spectator.named("m", "service"), asked) == ["OK"] * 6


async def test_a_players_own_stream(service: Replica, spectator: Caller) -> None:
    """His bans are for him and for operators; the request they were set by is for operators alone."""
    operator = Client(service.channel, "olga")
    operator.metadata = (*operator.metadata, ("baohuang-role", "operator"))
    await operator.call(table_pb.SetBanRequest(request_id=fresh(), player="bo", banned=True, reason="he shouts"))
    bans, bo = pb.EventFilter(table_id="player:bo"), spectator.named("bo")
    (ban,) = await bo.stream(pb.StreamEventsRequest(filter=bans))
    assert (ban.type, ban.event.player_banned.note, ban.salt, ban.request_id) == ("PlayerBanned", "he shouts", b"", "")
    (ban,) = await spectator.operator.stream(pb.StreamEventsRequest(filter=bans))
    assert (len(ban.salt), bool(ban.request_id)) == (16, True)
    explained = await bo.call(pb.ExplainRulingRequest(table_id="player:bo", version=1))
    assert explained.judgement.follows
    (ruling,) = (await bo.call(pb.ListRulingsRequest(player="bo"))).rulings
    assert (ruling.clause, list(ruling.players)) == ("RULE-1", ["bo"])
    requests: list[Message] = [
        pb.StreamEventsRequest(filter=bans),
        pb.ListRulingsRequest(table_id="player:bo"),
        pb.ExplainRulingRequest(table_id="player:bo", version=1),
    ]
    assert await outcomes(spectator, requests) == ["PERMISSION_DENIED"] * 3


async def test_verification_is_for_operators_and_services(service: Replica, spectator: Caller) -> None:
    """A player is told who may; who may is told of a table that is not there."""
    game = await seated(service)
    request = pb.VerifyTableRequest(table_id=game.table_id)
    refused = await spectator.refused(request)
    assert (refused.code, refused.metadata) == (grpc.StatusCode.PERMISSION_DENIED, {"roles": "operator, service"})
    assert (await spectator.named("m", "service").call(request)).events == len(await game.events())
    assert await outcomes(spectator.operator, of_table(NO_TABLE)) == ["NO_SUCH_TABLE"] * 6
    for table_id in (NO_TABLE, "player:nobody", "player:", "x"):
        refused = await spectator.operator.refused(pb.VerifyTableRequest(table_id=table_id))
        assert (refused.code, refused.reason) == (grpc.StatusCode.NOT_FOUND, "NO_SUCH_TABLE")


MALFORMED: list[tuple[Message, str]] = [
    (pb.GetTableAtRequest(table_id=NO_TABLE), "at"),
    (pb.GetTableAtRequest(table_id=NO_TABLE, version=0), "version"),
    (pb.GetTableAtRequest(table_id=NO_TABLE, version=-1), "version"),
    (pb.GetTableAtRequest(table_id=NO_TABLE, instant=""), "instant"),
    (pb.GetTableAtRequest(table_id=NO_TABLE, instant="noon"), "instant"),
    (pb.ExplainRulingRequest(table_id=NO_TABLE), "version"),
    (pb.ExportHandRequest(table_id=NO_TABLE), "hand"),
    (pb.ListRulingsRequest(table_id=NO_TABLE, kinds=["CardsPlayed"]), "kinds[0]"),
    (pb.ListRulingsRequest(table_id=NO_TABLE, kinds=["PlayerFined"] * 21), "kinds"),
    (pb.ListRulingsRequest(table_id=NO_TABLE, clause="a\0"), "clause"),
    (pb.ListRulingsRequest(table_id=NO_TABLE, player="a b"), "player"),
    (pb.ListRulingsRequest(table_id=NO_TABLE, since="1"), "since"),
    (pb.ListRulingsRequest(table_id=NO_TABLE, until="1"), "until"),
    (pb.ListRulingsRequest(table_id=NO_TABLE, page_size=-1), "page_size"),
    (pb.ListRulingsRequest(table_id=NO_TABLE, page_token="MQ"), "page_token"),  # noqa: S106 - of a page
]


async def test_a_bad_field_is_named(spectator: Caller) -> None:
    """By its path, before anything is looked up."""
    for request, field in MALFORMED:
        refused = await spectator.refused(request)
        assert (refused.code, refused.fields) == (grpc.StatusCode.INVALID_ARGUMENT, (field,)), request
