from collections.abc import Callable
from dataclasses import dataclass

import pytest
from google.protobuf.message import Message
from grpc import StatusCode
from grpc.aio import AioRpcError

from baohuang.eventlog.codec import encode
from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import Actor, Append, Appended, NewEvent, RequestId
from baohuang.gen.rules.v1 import ruleset_pb2
from baohuang.gen.rules.v1.hand_pb2 import ANSWER_HIDDEN, ANSWER_KICK
from baohuang.gen.table.v1 import moves_pb2, watch_pb2
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.gen.table.v1.table_view_pb2 import TABLE_STATUS_DISSOLVED
from baohuang.rules import commands as cmd
from baohuang.rules.events import TableDissolved
from baohuang.rules.state import Instant
from tables.clients import Client, Refused, act, fresh, open_table, ready, refusal, sit, stand
from tables.games import Game, opened, seated, started
from tables.replicas import Replica

ANOTHER_TABLE = "01890a5d-ac96-774b-bcce-b302099a8057"
OUTSIDER = "outsider"


@dataclass(frozen=True, slots=True)
class Case:
    """A request to a table at which five sit, and how it has to be refused."""

    request: Callable[[str], Message]
    code: StatusCode
    reason: str
    field: str = ""
    rule: str = ""
    player: str = OUTSIDER


def malformed(request: Callable[[str], Message], field: str, reason: str = "INVALID_FIELD", rule: str = "") -> Case:
    """Say that a request is wrong in any state."""
    return Case(request, StatusCode.INVALID_ARGUMENT, reason, field, rule)


def no_table(request: Callable[[str], Message]) -> Case:
    """Say that there is no such table."""
    return Case(request, StatusCode.NOT_FOUND, "NO_SUCH_TABLE")


def forbidden(request: Callable[[str], Message], reason: str, rule: str, player: str = "an") -> Case:
    """Say that a clause of the rules forbids it."""
    return Case(request, StatusCode.FAILED_PRECONDITION, reason, rule=rule, player=player)


def with_options(**options: object) -> Callable[[str], Message]:
    """Open a table of a ruleset that offers no options."""
    return lambda _: pb.OpenTableRequest(
        request_id=fresh(),
        ruleset="homy-standard",
        options=ruleset_pb2.Options(**options),  # type: ignore[arg-type]
    )


def acting(**action: Message) -> Callable[[str], Message]:
    """Act with a message as it is."""
    return lambda table: pb.ActRequest(request_id=fresh(), table_id=table, **action)  # type: ignore[arg-type]


CASES = {
    "unknown ruleset": malformed(lambda _: open_table("mahjong"), "ruleset", "UNKNOWN_RULESET"),
    "no ruleset": malformed(lambda _: open_table(""), "ruleset", "UNKNOWN_RULESET"),
    "a ruleset with NUL": malformed(lambda _: open_table("a\0b"), "ruleset", "UNKNOWN_RULESET"),
    "a very long ruleset": malformed(lambda _: open_table("皇" * 20_000), "ruleset", "UNKNOWN_RULESET"),
    "roast not offered": malformed(with_options(roast=False), "options.roast", "OPTION_NOT_OFFERED"),
    "turns too short": malformed(with_options(turn_seconds=4), "options.turn_seconds", "OPTION_NOT_OFFERED"),
    "turns too long": malformed(with_options(turn_seconds=301), "options.turn_seconds", "OPTION_NOT_OFFERED"),
    "negative grace": malformed(with_options(grace_seconds=-1), "options.grace_seconds", "OPTION_NOT_OFFERED"),
    "delay too long": malformed(with_options(spectator_delay=101), "options.spectator_delay", "OPTION_NOT_OFFERED"),
    "seat -1": malformed(lambda table: sit(table, -1), "seat", "NO_SUCH_SEAT"),
    "seat 5": malformed(lambda table: sit(table, 5), "seat", "NO_SUCH_SEAT"),
    "seat 2^31-1": malformed(lambda table: sit(table, 2**31 - 1), "seat", "NO_SUCH_SEAT"),
    "seat -2^31": malformed(lambda table: sit(table, -(2**31)), "seat", "NO_SUCH_SEAT"),
    "entropy of 65 bytes": malformed(lambda table: ready(table, "x" * 65), "entropy", "ENTROPY_TOO_LONG"),
    "entropy of 66 bytes": malformed(lambda table: ready(table, "牌" * 22), "entropy", "ENTROPY_TOO_LONG"),
    "entropy with NUL": malformed(lambda table: ready(table, "a\0"), "entropy"),
    "no action": malformed(acting(), "action"),
    "no card": malformed(acting(play=moves_pb2.Play(cards=["9h", "9x"])), "play.cards[1]"),
    "a hidden card": malformed(acting(play=moves_pb2.Play(cards=["??"])), "play.cards[0]"),
    "65 cards": malformed(acting(play=moves_pb2.Play(cards=["9h"] * 65)), "play.cards"),
    "a card with NUL": malformed(acting(call_card=moves_pb2.CallCard(card="9h\0")), "call_card.card"),
    "a very long card": malformed(acting(call_card=moves_pb2.CallCard(card="9" * 60_000)), "call_card.card"),
    "tribute of no card": malformed(
        acting(return_tribute=moves_pb2.ReturnTribute(cards=[""])), "return_tribute.cards[0]"
    ),
    "no answer": malformed(acting(declare=moves_pb2.Declare()), "declare.answer"),
    "a hidden answer": malformed(acting(declare=moves_pb2.Declare(answer=ANSWER_HIDDEN)), "declare.answer"),
    "a kick to SEIZE": malformed(acting(answer_seize=moves_pb2.AnswerSeize(answer=ANSWER_KICK)), "answer_seize.answer"),
    "an unknown answer": malformed(acting(answer_kick=moves_pb2.AnswerKick(answer=99)), "answer_kick.answer"),  # type: ignore[arg-type]
    "watching from -1": malformed(lambda t: watch_pb2.WatchTableRequest(table_id=t, after_version=-1), "after_version"),
    "a page of -1": malformed(lambda _: pb.ListTablesRequest(page_size=-1), "page_size"),
    "a made-up token": malformed(lambda _: pb.ListTablesRequest(page_token="2"), "page_token"),  # noqa: S106
    "a token with NUL": malformed(lambda _: pb.ListTablesRequest(page_token="\0" * 36), "page_token"),
    "an unknown status": malformed(lambda _: pb.ListTablesRequest(status=99), "status"),  # type: ignore[arg-type]
    "a player with NUL": malformed(lambda _: pb.ListTablesRequest(player="\0"), "player"),
    "a filter with NUL": malformed(lambda _: pb.ListTablesRequest(ruleset="\0"), "ruleset"),
    "getting no table": no_table(lambda _: pb.GetTableRequest(table_id=ANOTHER_TABLE)),
    "getting an empty id": no_table(lambda _: pb.GetTableRequest()),
    "getting an id with NUL": no_table(lambda _: pb.GetTableRequest(table_id="\0" * 36)),
    "getting a very long id": no_table(lambda _: pb.GetTableRequest(table_id="0" * 60_000)),
    "sitting at no table": no_table(lambda _: sit(ANOTHER_TABLE, 0)),
    "standing up from no table": no_table(lambda _: stand(ANOTHER_TABLE)),
    "ready at no table": no_table(lambda _: ready(ANOTHER_TABLE)),
    "acting at no table": no_table(lambda _: act(ANOTHER_TABLE, cmd.Pass())),
    "watching no table": no_table(lambda _: watch_pb2.WatchTableRequest(table_id=ANOTHER_TABLE)),
    "standing up, not seated": Case(stand, StatusCode.PERMISSION_DENIED, "NOT_SEATED", rule="TABLE-1"),
    "ready, not seated": Case(ready, StatusCode.PERMISSION_DENIED, "NOT_SEATED", rule="TABLE-1"),
    "acting, not seated": Case(
        lambda table: act(table, cmd.Pass()), StatusCode.PERMISSION_DENIED, "NOT_SEATED", rule="TABLE-1"
    ),
    "sitting twice": forbidden(lambda table: sit(table, 1), "ALREADY_SEATED", "TABLE-1"),
    "sitting on somebody": forbidden(lambda table: sit(table, 1), "SEAT_TAKEN", "TABLE-1", player=OUTSIDER),
    "passing before any hand": forbidden(lambda table: act(table, cmd.Pass()), "WRONG_PHASE", "TABLE-1"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
async def test_a_refusal_says_why_and_changes_nothing(service: Replica, log: MemoryLog, name: str) -> None:
    """Code, reason, domain, clause and field are the documented ones; the log is as it was."""
    case, game = CASES[name], await seated(service)
    before = await log.read_all(limit=10_000)
    request = case.request(game.table_id)
    client = Client(service.channel, case.player)
    if isinstance(request, watch_pb2.WatchTableRequest):
        refused = await refused_watch(client, request)
    else:
        refused = await client.refused(request)
    assert (refused.code, refused.reason, refused.domain) == (case.code, case.reason, "baohuang")
    assert refused.metadata.get("rule", "") == case.rule
    assert refused.fields == ((case.field,) if case.field else ())
    assert await log.read_all(limit=10_000) == before


async def refused_watch(client: Client, request: watch_pb2.WatchTableRequest) -> Refused:
    """Read a stream that has to be refused, and tell how it was."""
    with pytest.raises(AioRpcError) as caught:
        async for _ in client.start(request):
            pass
    return refusal(caught.value)


BAD_REQUEST_IDS = ("", "x" * 65, "a b", "\0", "\n", "é", "皇帝")


@pytest.mark.parametrize("bad", BAD_REQUEST_IDS, ids=ascii)
async def test_every_change_needs_a_sound_request_id(service: Replica, log: MemoryLog, bad: str) -> None:
    """None, too long, with blanks, not printable ASCII: INVALID_ARGUMENT naming the field, on every such method."""
    game = await seated(service)
    before = await log.read_all()
    requests = (open_table(), sit(game.table_id, 0), stand(game.table_id), ready(game.table_id), enthrone(game))
    for request in requests:
        request.request_id = bad
        refused = await game.clients[0].refused(request)
        assert (refused.code, refused.reason, refused.fields) == (
            StatusCode.INVALID_ARGUMENT, "INVALID_FIELD", ("request_id",)
        )  # fmt: skip
    assert await log.read_all() == before


def enthrone(game: Game) -> pb.ActRequest:
    """Ask for the crown."""
    return act(game.table_id, cmd.Enthrone())


async def test_a_closed_table_takes_nobody(service: Replica, log: MemoryLog) -> None:
    """After TRUST-4 nobody sits down, stands up or gets ready; who looks sees it closed."""
    game = await seated(service)
    await dissolve(log, game)
    for request, client in (
        (sit(game.table_id, 0), Client(service.channel, OUTSIDER)),
        (stand(game.table_id), game.clients[0]),
        (ready(game.table_id), game.clients[0]),
    ):
        refused = await client.refused(request)
        assert (refused.code, refused.reason) == (StatusCode.FAILED_PRECONDITION, "TABLE_CLOSED")
        assert refused.metadata == {"rule": "TRUST-4"}
    view = (await game.clients[0].call(pb.GetTableRequest(table_id=game.table_id))).table
    assert view.status == TABLE_STATUS_DISSOLVED


async def dissolve(log: MemoryLog, game: Game) -> None:
    """Close the table as another replica would."""
    head = await game.head()
    event = NewEvent(*encode(TableDissolved("TRUST-4", (0,), Instant("2026-01-31T08:05:09.000123Z"))))
    command = Append(
        stream_id=head.stream_id,
        expected_version=head.version,
        expected_hash=head.hash,
        events=(event,),
        actor=Actor("clock"),
        request_id=RequestId(fresh()),
        request_digest=b"",
        recorded_at=await log.clock(),
        outcome=b"{}",
    )
    assert isinstance(await log.append(command), Appended)


async def test_hold6_needs_the_short_deck(service: Replica) -> None:
    """An option without the one it presumes is refused, and accepted with it."""
    client = Client(service.channel, "an")
    request = pb.OpenTableRequest(request_id=fresh(), ruleset="ourgame-simple", options=ruleset_pb2.Options(hold6=True))
    refused = await client.refused(request)
    assert (refused.reason, refused.fields) == ("OPTION_NOT_OFFERED", ("options.hold6",))
    request.options.short_deck = True
    assert (await client.call(request)).table.ruleset.hold6


async def test_the_limits_themselves_are_accepted(service: Replica) -> None:
    """64 characters of request id, 64 bytes of entropy, a page of 2^31-1 are in bounds."""
    game = await opened(service)
    client = game.clients[0]
    await client.call(pb.SitDownRequest(request_id="~" * 64, table_id=game.table_id, seat=4))
    await client.call(ready(game.table_id, "é" * 32))
    assert (await game.table()).seats[4].entropy == "é" * 32
    assert len((await client.call(pb.ListTablesRequest(page_size=2**31 - 1))).tables) == 1


async def test_a_stale_expected_version_is_refused_and_says_the_current_one(service: Replica) -> None:
    """ABORTED with the table's version, for versions past, to come and impossible; the right one is accepted."""
    game = await seated(service)
    head = await game.head()
    for wrong in (0, head.version - 1, head.version + 1, -1, 2**31 - 1):
        request = ready(game.table_id)
        request.expected_version = wrong
        refused = await game.clients[0].refused(request)
        assert (refused.code, refused.reason) == (StatusCode.ABORTED, "STALE_VERSION")
        assert refused.metadata == {"version": str(head.version)}
    assert await game.head() == head
    request = ready(game.table_id)
    request.expected_version = head.version
    assert (await game.clients[0].call(request)).version == head.version + 1


async def test_moves_out_of_turn_are_refused(service: Replica) -> None:
    """Another's turn, another phase's move: the clause is named and nothing changes."""
    game = await started(service)
    before, hand = await game.head(), await game.hand()
    for seat, client in enumerate(game.clients):
        refused = await client.refused(act(game.table_id, cmd.Pass()))
        assert (refused.reason, refused.metadata) == ("WRONG_PHASE", {"rule": "3"})
        if seat != hand.turn:
            refused = await client.refused(enthrone(game))
            assert (refused.reason, refused.metadata) == ("NOT_YOUR_TURN", {"rule": "PLAY-1"})
    assert await game.head() == before
