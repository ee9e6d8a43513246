"""Between the contract's messages and the domain: what comes in is checked here, and nowhere else.

Every wrong field is a MalformedInput that names it by its proto path.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from types import MappingProxyType
from typing import Final, assert_never

from baohuang.gen.matchmaking.v1 import matchmaking_service_pb2 as pb
from baohuang.gen.rules.v1 import ruleset_pb2
from baohuang.rpc.auth import Role
from baohuang.rpc.call import current_caller
from baohuang.rpc.errors import MalformedInput, NotFound, Reason
from baohuang.rpc.messages import requested_options, to_proto
from baohuang.rules.deal import SEATS
from baohuang.rules.rulesets import OptionError, Options, UnknownRulesetError
from baohuang.rules.state import PlayerId
from matchmaking_service.reading import no_such_ticket
from matchmaking_service.requests import Request
from matchmaking_service.tickets import QueueLength, Ticket, TicketId, TicketState, Wish, options_of_queue
from matchmaking_service.watching import Changed, GoElsewhere, Message, StillWaiting

_REQUEST_ID: Final = re.compile(r"[\x21-\x7e]{1,64}", re.ASCII)
_TICKET_ID: Final = re.compile(r"[0-9a-f-]{36}", re.ASCII)
_CODE: Final = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_STATES: Final = MappingProxyType(
    {
        TicketState.QUEUED: pb.TICKET_STATE_QUEUED,
        TicketState.MATCHED: pb.TICKET_STATE_MATCHED,
        TicketState.CANCELLED: pb.TICKET_STATE_CANCELLED,
        TicketState.EXPIRED: pb.TICKET_STATE_EXPIRED,
        TicketState.SET_ASIDE: pb.TICKET_STATE_SET_ASIDE,
    }
)


def request_in(message: pb.CreateTicketRequest | pb.CancelTicketRequest) -> Request:
    """Return who asks, and how a retry of it is known. Raises MalformedInput."""
    if not _REQUEST_ID.fullmatch(message.request_id):
        raise MalformedInput.field("request_id", "must be 1 to 64 printable ASCII characters without blanks (AIP-155)")
    body = message.DESCRIPTOR.full_name.encode() + b"\0" + message.SerializeToString(deterministic=True)
    return Request(PlayerId(current_caller().player), message.request_id, sha256(body).digest())


def wish_in(message: pb.CreateTicketRequest) -> Wish | str:
    """Return the party to open, or the code of the one to join. Raises MalformedInput; NotFound for what is no code."""
    match message.WhichOneof("party"):
        case "new_party":
            return _new_party(message.new_party)
        case "party_code":
            if not _CODE.fullmatch(message.party_code):
                raise NotFound(Reason.NO_SUCH_PARTY, "no open party has this code")
            return message.party_code
        case _:
            raise MalformedInput.field("party", "one of new_party and party_code has to be set")


def queue_in(message: pb.GetQueueRequest) -> Wish:
    """Return the queue asked for. Raises MalformedInput."""
    return _wish(message.ruleset, message.options, 1, "")


def ticket_id_in(text: str) -> TicketId:
    """Return a ticket's id. Raises NotFound for a text that no ticket can have as its id."""
    if not _TICKET_ID.fullmatch(text):
        raise no_such_ticket()
    return TicketId(text)


def after_revision_in(message: pb.WatchTicketRequest) -> int:
    """Return the revision that the watcher has, 0 for none. Raises MalformedInput."""
    if message.after_revision < 0:
        raise MalformedInput.field("after_revision", "must not be negative")
    return message.after_revision


def check_may_see(ticket: Ticket) -> None:
    """Raise NotFound unless the ticket is the caller's, or he is an operator or service."""
    if not may_see_all() and ticket.player != PlayerId(current_caller().player):
        raise no_such_ticket()


def may_see_all() -> bool:
    """Return whether the caller may see everybody's tickets: operators and services may."""
    return current_caller().role is not Role.PLAYER


def ticket_message(ticket: Ticket) -> pb.Ticket:
    """Return the message of a ticket, as its player sees it."""
    message = pb.Ticket(
        ticket_id=ticket.ticket_id,
        player=ticket.player,
        state=_STATES[ticket.state],
        revision=ticket.revision,
        party=_party_message(ticket),
    )
    match ticket.state:
        case TicketState.QUEUED:
            message.waiting.CopyFrom(_waiting_message(ticket))
        case TicketState.MATCHED:
            message.matched.CopyFrom(_matched_message(ticket))
        case TicketState.SET_ASIDE:
            message.set_aside.CopyFrom(pb.SetAside(reason=ticket.reason or "", player=ticket.culprit or ""))
        case TicketState.CANCELLED | TicketState.EXPIRED:
            pass
        case _:
            assert_never(ticket.state)
    return message


def stream_message(message: Message) -> pb.WatchTicketResponse:
    """Return the message of a ticket's stream."""
    match message:
        case Changed(ticket):
            return pb.WatchTicketResponse(ticket=ticket_message(ticket))
        case StillWaiting(ticket):
            return pb.WatchTicketResponse(waiting=_waiting_message(ticket))
        case GoElsewhere(revision):
            return pb.WatchTicketResponse(reconnect=pb.Reconnect(revision=revision))
        case _:
            assert_never(message)


def queue_message(length: QueueLength, gone_wrong: Sequence[Ticket]) -> pb.GetQueueResponse:
    """Return the message of a queue's length, with the tickets to be listed that went wrong."""
    message = to_proto(length, pb.GetQueueResponse)
    message.gone_wrong.extend(map(ticket_message, gone_wrong))
    return message


def created(made: Ticket | bytes) -> pb.CreateTicketResponse:
    """Return the answer to CreateTicket."""
    if isinstance(made, bytes):
        return pb.CreateTicketResponse.FromString(made)
    return pb.CreateTicketResponse(ticket=ticket_message(made))


def cancelled(ticket: Ticket) -> bytes:
    """Return the answer to CancelTicket."""
    return pb.CancelTicketResponse(ticket=ticket_message(ticket)).SerializeToString()


def _new_party(message: pb.NewParty) -> Wish:
    if not 0 <= message.size <= SEATS:
        raise MalformedInput.field("new_party.size", f"a party is of 1 to {SEATS} players")
    return _wish(message.ruleset, message.options, message.size or 1, "new_party.")


def _wish(ruleset: str, options: ruleset_pb2.Options, size: int, path: str) -> Wish:
    try:
        return Wish(ruleset, _options_in(ruleset, options.SerializeToString(deterministic=True)), size)
    except UnknownRulesetError as error:
        raise MalformedInput.field(f"{path}ruleset", str(error), Reason.UNKNOWN_RULESET) from error
    except OptionError as error:
        raise MalformedInput.field(f"{path}options.{error.option}", str(error), Reason.OPTION_NOT_OFFERED) from error


@lru_cache(maxsize=1_000)
def _options_in(ruleset: str, serialized: bytes) -> Options:
    """Return the options of a queue. Many ask for few queues, so each is looked at once."""
    return options_of_queue(ruleset, requested_options(ruleset_pb2.Options.FromString(serialized)))


@lru_cache(maxsize=1_000)
def _options_message(options: Options) -> ruleset_pb2.Options:
    """Return the message of options, to be copied from."""
    return to_proto(options, ruleset_pb2.Options)


def _party_message(ticket: Ticket) -> pb.Party:
    return pb.Party(
        size=ticket.size,
        players=ticket.players,
        party_code=(ticket.code or "") if ticket.size > 1 and ticket.player == ticket.leader else "",
        ruleset=ticket.ruleset,
        options=_options_message(ticket.options) if ticket.options else None,
    )


def _waiting_message(ticket: Ticket) -> pb.Waiting:
    return pb.Waiting(place=ticket.place, waited_ms=ticket.waited_ms, match_found=ticket.match_found)


def _matched_message(ticket: Ticket) -> pb.Matched:
    seats = ticket.seats or ()
    return pb.Matched(
        match_id=ticket.match_id or "",
        table_id=ticket.table_id or "",
        seat=seats.index(ticket.player),
        players=seats,
    )
