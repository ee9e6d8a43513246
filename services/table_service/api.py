"""Between the contract's messages and the domain: what comes in is checked here, and nowhere else.

Every wrong field is a MalformedInput that names it by its proto path.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Final

from google.protobuf.message import Message

from baohuang.eventlog.port import Head, RequestId, StreamId, Version
from baohuang.eventlog.summaries import Summary, filter_for, read_summary
from baohuang.gen.history.v1 import history_service_pb2
from baohuang.gen.rules.v1 import hand_pb2, ruleset_pb2
from baohuang.gen.table.v1 import play_pb2, table_view_pb2, watch_pb2
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.rpc.auth import Role, caller_id
from baohuang.rpc.call import current_caller
from baohuang.rpc.errors import MalformedInput, NotFound, Reason
from baohuang.rpc.messages import requested_options, to_proto
from baohuang.rpc.plain_text import is_plain
from baohuang.rpc.roles import check_role
from baohuang.rules import commands as cmd
from baohuang.rules.cards import COPIES, Card, UnknownCardError, in_order, parse_card, unmarked
from baohuang.rules.deal import ENTROPY_BYTES, SEATS
from baohuang.rules.state import Answer, PlayerId, TableId, TableStatus
from table_service.bans import BanRequest
from table_service.identifiers import new_table_id
from table_service.privacy import Visitor, digest_of
from table_service.request import Request

CommandRequest = (
    pb.SitDownRequest
    | pb.StandUpRequest
    | pb.SetReadyRequest
    | pb.ActRequest
    | pb.SetTrusteeshipRequest
    | pb.LeaveTableRequest
    | pb.ForfeitSeatRequest
    | pb.KickPlayerRequest
    | pb.CloseTableRequest
    | pb.VoidHandRequest
)
"""The requests that change a table which is there already."""
MutatingRequest = pb.OpenTableRequest | CommandRequest

_REQUEST_ID: Final = re.compile(r"[\x21-\x7e]{1,64}", re.ASCII)
_TABLE_ID: Final = re.compile(r"[0-9a-f-]{36}", re.ASCII)
_DEFAULT_PAGE: Final = 50
_LARGEST_PAGE: Final = 100
_LONGEST_REASON: Final = 200
_INVITATION_CODE: Final = re.compile(r"[\x21-\x7e]{16,64}", re.ASCII)
_MOST_CARDS: Final = 64
"""More than any hand holds, whatever was pasted or paid to it."""
_ANSWERS_BY_PHASE: Final[Mapping[str, frozenset[Answer]]] = MappingProxyType(
    {
        "answer_seize": frozenset({Answer.SEIZE, Answer.NONE}),
        "declare": frozenset(
            {Answer.NONE, Answer.OPEN_GUARD, Answer.OPEN_SOLO, Answer.REVOLT, Answer.SURRENDER},
        ),
        "answer_kick": frozenset({Answer.KICK, Answer.NONE}),
    },
)


def caller() -> PlayerId:
    """Return the player who calls."""
    return PlayerId(current_caller().player)


def visitor(invitation_code: str) -> Visitor:
    """Return the caller as he comes to a table, with the code he shows; empty if none."""
    return Visitor(caller(), invitation_code, is_trusted())


def is_trusted() -> bool:
    """Tell whether the caller may know of every table."""
    return current_caller().role in {Role.OPERATOR, Role.SERVICE}


def table_id_in(text: str) -> TableId:
    """Return a table's id. Raises NotFound for a text that no table can have as its id."""
    if not _TABLE_ID.fullmatch(text):
        raise NotFound(Reason.NO_SUCH_TABLE, "there is no such table: ids are UUIDs, as OpenTable gives them")
    return TableId(text)


def request_in(message: MutatingRequest, now: Callable[[], datetime]) -> Request:
    """Return the command that a request stands for, the same by whatever way it came.

    `now` tells the time, which a new table's id begins with.

    Raises MalformedInput; NotFound for a text that no table can have as its id.
    """
    if isinstance(message, pb.OpenTableRequest):
        table_id = new_table_id(now())
        return _request(table_id, message, opening(table_id, message), None)
    table_id = table_id_in(message.table_id)
    expected = Version(message.expected_version) if message.HasField("expected_version") else None
    return _request(table_id, message, _ACTIONS[type(message)](message), expected)


def ruling_named_in(message: history_service_pb2.ReverseRulingRequest) -> tuple[TableId, Version]:
    """Return table and version of the ruling. Raises MalformedInput; NotFound for an id that no table can have."""
    if message.version < 1:
        raise MalformedInput.field("version", "events are numbered from 1")
    return table_id_in(message.table_id), Version(message.version)


def reversal_in(message: history_service_pb2.ReverseRulingRequest, kind: str) -> Request:
    """Return the command of a ReverseRuling request, the event at its version being of that type (empty: none).

    Raises MalformedInput; NotFound for an id that no table can have.
    """
    table_id, version = ruling_named_in(message)
    return _request(table_id, message, cmd.ReverseRuling(version, _reason(message.reason), kind), None)


def opening(table_id: TableId, message: pb.OpenTableRequest) -> cmd.OpenTable:
    """Return the action of an OpenTable request. Raises MalformedInput."""
    options = requested_options(message.options)
    code = message.invitation_code
    if code and not _INVITATION_CODE.fullmatch(code):
        raise MalformedInput.field("invitation_code", "must be 16 to 64 printable ASCII characters without blanks")
    return cmd.OpenTable(table_id, message.ruleset, options, digest_of(table_id, code), _seated(message.players))


def opening_answer(answer: play_pb2.Accepted | play_pb2.Refused) -> pb.OpenTablesAnswer:
    """Return the message of what came of one of several tables to open."""
    if isinstance(answer, play_pb2.Accepted):
        return pb.OpenTablesAnswer(accepted=answer)
    return pb.OpenTablesAnswer(refused=answer)


def _seated(names: Sequence[str]) -> tuple[PlayerId, ...]:
    """Return the players to seat by seat, none if none are named. Raises MalformedInput, PermissionDenied."""
    if not names:
        return ()
    check_role(Role.SERVICE)
    if len(names) != SEATS or len(set(names)) != SEATS:
        raise MalformedInput.field("players", f"must be {SEATS} different players, by seat, or none")
    for seat, name in enumerate(names):
        if caller_id(name) is None:
            raise MalformedInput.field(f"players[{seat}]", "is no player's id")
    return tuple(map(PlayerId, names))


def sitting(message: pb.SitDownRequest) -> cmd.SitDown:
    """Return the action of a SitDown request. Raises MalformedInput."""
    return cmd.SitDown(_seat(message.seat))


def trusteeship(message: pb.SetTrusteeshipRequest) -> cmd.RequestTrusteeship | cmd.CancelTrusteeship:
    """Return the action of a SetTrusteeship request."""
    return cmd.RequestTrusteeship() if message.active else cmd.CancelTrusteeship()


def kicking(message: pb.KickPlayerRequest) -> cmd.KickPlayer:
    """Return the action of a KickPlayer request. Raises MalformedInput."""
    return cmd.KickPlayer(_seat(message.seat))


def ban_request_in(message: pb.SetBanRequest) -> BanRequest:
    """Return what a SetBan request stands for. Raises MalformedInput."""
    player = caller_id(message.player)
    if player is None:
        raise MalformedInput.field("player", "is no player's id")
    return BanRequest(
        operator=caller(),
        request_id=_request_id(message.request_id),
        digest=_digest(message),
        player=PlayerId(player),
        banned=message.banned,
        note=_reason(message.reason),
    )


def readiness(message: pb.SetReadyRequest) -> cmd.SetReady:
    """Return the action of a SetReady request. Raises MalformedInput."""
    if len(message.entropy.encode()) > ENTROPY_BYTES:
        raise MalformedInput.field("entropy", f"at most {ENTROPY_BYTES} bytes in UTF-8", Reason.ENTROPY_TOO_LONG)
    if "\0" in message.entropy:
        raise MalformedInput.field("entropy", "must not hold NUL")
    return cmd.SetReady(message.ready, message.entropy)


def move(message: pb.ActRequest) -> cmd.Move:  # noqa: C901, PLR0911 - one line a move
    """Return the move of an Act request. Raises MalformedInput."""
    match message.WhichOneof("action"):
        case "play":
            return cmd.Play(cards_in(message.play.cards, "play.cards"))
        case "pass_turn":
            return cmd.Pass()
        case "enthrone":
            return cmd.Enthrone()
        case "yield_crown":
            return cmd.Yield()
        case "declare_open_solo":
            return cmd.DeclareOpenSolo()
        case "answer_seize":
            return cmd.AnswerSeize(_answer(message.answer_seize.answer, "answer_seize"))
        case "call_card":
            return cmd.CallCard(card_in(message.call_card.card, "call_card.card"))
        case "declare":
            return cmd.Declare(_answer(message.declare.answer, "declare"))
        case "answer_kick":
            return cmd.AnswerKick(_answer(message.answer_kick.answer, "answer_kick"))
        case "return_tribute":
            return cmd.ReturnTribute(cards_in(message.return_tribute.cards, "return_tribute.cards"))
        case _:
            raise MalformedInput.field("action", "must be set")


def after_version_in(message: watch_pb2.WatchTableRequest | play_pb2.Watch) -> int:
    """Return the version a watcher has; 0 if he has nothing. Raises MalformedInput."""
    if message.after_version < 0:
        raise MalformedInput.field("after_version", "must not be negative")
    return message.after_version


def cards_in(texts: Iterable[str], field: str) -> tuple[Card, ...]:
    """Return the cards of a repeated field. Raises MalformedInput, naming the one that is none."""
    cards = tuple(card_in(text, f"{field}[{index}]") for index, text in enumerate(texts))
    if len(cards) > _MOST_CARDS:
        raise MalformedInput.field(field, f"at most {_MOST_CARDS} cards")
    return cards


def hand_in(texts: Iterable[str], field: str) -> tuple[Card, ...]:
    """Return cards that one player may hold, in order. Raises MalformedInput for more than four decks have of one."""
    cards = in_order(cards_in(texts, field))
    for card, count in Counter(map(unmarked, cards)).items():
        if count > COPIES:
            raise MalformedInput.field(field, f"{count} copies of {card}, and there are {COPIES}")
    return cards


def card_in(text: str, field: str) -> Card:
    """Return a card. Raises MalformedInput."""
    try:
        return parse_card(text)
    except UnknownCardError as error:
        raise MalformedInput.field(field, str(error)) from error


def listing(message: pb.ListTablesRequest) -> tuple[bytes, StreamId | None, int]:
    """Return filter, last id of the page before and page size of a ListTables request. Raises MalformedInput."""
    if message.page_size < 0:
        raise MalformedInput.field("page_size", "must not be negative")
    for field in ("ruleset", "player"):
        if "\0" in getattr(message, field):
            raise MalformedInput.field(field, "must not hold NUL")
    if message.page_token and not _TABLE_ID.fullmatch(message.page_token):
        raise MalformedInput.field("page_token", "is not one that ListTables gave")
    private = is_trusted() or message.player == caller()
    status = _status(message.status)
    flags = {"free_seat": message.free_seat, "bots": message.bots, "private": private}
    where = filter_for(message.ruleset, status, message.player, **flags)
    size = min(message.page_size or _DEFAULT_PAGE, _LARGEST_PAGE)
    return where, StreamId(message.page_token) if message.page_token else None, size


def summary_message(head: Head) -> pb.TableSummary:
    """Return the message of a table's summary."""
    summary: Summary = read_summary(head.summary)
    return pb.TableSummary(
        table_id=head.stream_id,
        version=0 if summary.hand_in_progress and summary.options.spectator_delay else head.version,
        ruleset=summary.ruleset,
        options=to_proto(summary.options, ruleset_pb2.Options),
        status=table_view_pb2.TableStatus.Value(summary.status.value),
        players=summary.players,
        hands_played=summary.hands_played,
        hand_in_progress=summary.hand_in_progress,
    )


_ACTIONS: Final[Mapping[type[Message], Callable[[Any], cmd.Action]]] = MappingProxyType(
    {
        pb.SitDownRequest: sitting,
        pb.StandUpRequest: lambda _: cmd.StandUp(),
        pb.SetReadyRequest: readiness,
        pb.ActRequest: move,
        pb.SetTrusteeshipRequest: trusteeship,
        pb.LeaveTableRequest: lambda _: cmd.LeaveTable(),
        pb.ForfeitSeatRequest: lambda _: cmd.ForfeitSeat(),
        pb.KickPlayerRequest: kicking,
        pb.CloseTableRequest: lambda message: cmd.CloseTable(_reason(message.reason)),
        pb.VoidHandRequest: lambda message: cmd.VoidHand(_reason(message.reason)),
    },
)
"""What each kind of request asks of a table that is there already."""


def _request(
    table_id: TableId,
    message: MutatingRequest | history_service_pb2.ReverseRulingRequest,
    action: cmd.Action,
    expected: Version | None,
) -> Request:
    return Request(
        table_id=table_id,
        player=caller(),
        request_id=_request_id(message.request_id),
        digest=_digest(message),
        action=action,
        expected_version=expected,
        visitor=visitor(message.invitation_code if isinstance(message, pb.SitDownRequest) else ""),
    )


def _reason(text: str) -> str:
    if not text.strip() or len(text) > _LONGEST_REASON:
        raise MalformedInput.field(
            "reason", f"must be 1 to {_LONGEST_REASON} characters, not blanks alone: it is kept with the ruling"
        )
    if not is_plain(text):
        raise MalformedInput.field("reason", "must be one line without control characters: others are shown it")
    return text


def _seat(seat: int) -> int:
    if not 0 <= seat < SEATS:
        raise MalformedInput.field("seat", f"seats are 0 to {SEATS - 1}", Reason.NO_SUCH_SEAT)
    return seat


def _request_id(text: str) -> RequestId:
    if not _REQUEST_ID.fullmatch(text):
        raise MalformedInput.field("request_id", "must be 1 to 64 printable ASCII characters without blanks (AIP-155)")
    return RequestId(text)


def _digest(message: Message) -> bytes:
    return sha256(
        message.DESCRIPTOR.full_name.encode() + b"\0" + message.SerializeToString(deterministic=True)
    ).digest()


def _answer(value: "hand_pb2.Answer.ValueType", field: str) -> Answer:
    names = {hand_pb2.Answer.Value(answer.value): answer for answer in _ANSWERS_BY_PHASE[field]}
    if value not in names:
        raise MalformedInput.field(f"{field}.answer", f"must be one of {', '.join(map(hand_pb2.Answer.Name, names))}")
    return names[value]


def _status(value: "table_view_pb2.TableStatus.ValueType") -> TableStatus | None:
    if value == table_view_pb2.TABLE_STATUS_UNSPECIFIED:
        return None
    try:
        return TableStatus(table_view_pb2.TableStatus.Name(value))
    except ValueError as error:
        raise MalformedInput.field("status", "is no status of a table") from error
