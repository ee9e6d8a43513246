"""Making tickets: requests that come at one time are settled together, each with its own outcome.

    several that open parties, nothing in their way ──► query `queue_alone` ──► made
    one alone, or joins one, or was made before, refused, busy ──► `make_tickets`, after it ──► a row a request

A flush has one request of a player and one for a code. Whatever comes back, a request is carried out once.
"""

import base64
import secrets
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final

import asyncpg
import structlog
from msgspec import Struct

from baohuang.database.flush_queue import Kind
from baohuang.database.group_commit import Busy, FlushRefused, GroupCommit, Pace
from baohuang.database.pool import FAILURES, Pool
from baohuang.rpc.errors import MalformedInput, NotFound, Reason, Refusal, Unavailable, WrongState
from baohuang.rules.state import PlayerId
from matchmaking_service.matching import PartyId
from matchmaking_service.queries import query
from matchmaking_service.requests import Request
from matchmaking_service.tickets import Ticket, TicketId, TicketState, Wish, options_if_readable, stored_options

_QUEUE_ALONE: Final = query("queue_alone")
_MAKE: Final = query("make_tickets")
_SEVERAL: Final = 2
_PACE: Final = Pace(between=0.03)
_OUT_OF_THE_WAY: Final = (
    asyncpg.LockNotAvailableError,
    asyncpg.DeadlockDetectedError,
    asyncpg.QueryCanceledError,
    asyncpg.SerializationError,
)
"""What another transaction had to do with: to be tried again."""
_log = structlog.get_logger("matchmaking")


class NotStored(Unavailable):
    """The request was not carried out, as far as is known."""

    def __init__(self, why: str) -> None:
        _log.warning("ticket not made", why=why)
        super().__init__(Reason.STORE_UNAVAILABLE, "the database did not answer: retry the same request")


class RefusedByStore(NotStored):
    """It is of no use to try again now."""


class Wanted(Struct, frozen=True):
    """A request for a ticket: with a party of his own, or that of a code. The ids are used if it is granted."""

    request: Request
    wish: Wish | str
    ticket_id: TicketId
    party_id: PartyId
    new_code: str | None


def wanted(request: Request, wish: Wish | str) -> Wanted:
    """Return a request with fresh ids. Random bytes cost a call of the system, so all come from one."""
    random = secrets.token_bytes(48)
    code = _code_of(random[32:]) if isinstance(wish, Wish) and wish.size > 1 else None
    return Wanted(request, wish, TicketId(_uuid4(random[:16])), PartyId(_uuid4(random[16:32])), code)


def _code_of(random: bytes) -> str:
    return base64.urlsafe_b64encode(random).rstrip(b"=").decode()


def _uuid4(random: bytes) -> str:
    """Write 16 random bytes as a UUID of version 4 (RFC 9562). The class UUID takes several times as long."""
    digits = random.hex()
    variant = "89ab"[random[8] >> 6]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


Made = Ticket | bytes
"""A ticket as it was made; the answer itself where a release stored it that kept answers."""
Creating = GroupCommit[Wanted, Made]


def creating(pool: Pool) -> Creating:
    """Return what makes tickets, to be entered.

    `settled` raises WrongState (ALREADY_QUEUED, PARTY_FULL), NotFound (NO_SUCH_PARTY), MalformedInput for an id
    that was used with another body, Unavailable.
    """

    async def send(batch: Sequence[Wanted]) -> Sequence[Made | Exception | Busy]:
        try:
            places = await _queued_alone(pool, [one for one in batch if isinstance(one.wish, Wish)])
            others = [one for one in batch if one.ticket_id not in places]
            rows = await pool.fetch(_MAKE, [_row(one) for one in others]) if others else ()
        except _OUT_OF_THE_WAY as error:
            raise FlushRefused(NotStored(str(error))) from error
        except (asyncpg.PostgresConnectionError, asyncpg.InterfaceError, OSError) as error:
            raise NotStored(str(error)) from error
        except FAILURES as error:
            raise FlushRefused(RefusedByStore(str(error))) from error
        settled = {one.ticket_id: _outcome(one, row) for one, row in zip(others, rows, strict=True)}
        return [
            settled[one.ticket_id] if one.ticket_id in settled else _alone(one, places[one.ticket_id]) for one in batch
        ]

    return GroupCommit(_TICKETS, send, _PACE)


def _player(one: Wanted) -> Hashable:
    return one.request.caller


def _code(one: Wanted) -> Sequence[Hashable]:
    return (one.wish,) if isinstance(one.wish, str) else ()


def _word(outcome: Made | Exception) -> str:
    match outcome:
        case Refusal(reason=reason):
            return reason
        case _:
            return "Queued"


_TICKETS: Final[Kind[Wanted, Made]] = Kind(
    name="queue of tickets",
    lane=_player,
    word=_word,
    alone_with=_code,
    order=_player,
    busy=NotStored,
    unknown=NotStored,
    closed=NotStored,
    unstorable=RefusedByStore,
)


async def _queued_alone(pool: Pool, opening: Sequence[Wanted]) -> Mapping[str, int]:
    """Make the tickets of several who open parties, and give the places of those that were made.

    One alone goes the other way at once: it has most often been here before, as one of many that a player sent.
    """
    if len(opening) < _SEVERAL:
        return {}
    try:
        rows = await pool.fetch(_QUEUE_ALONE, *zip(*map(_row, opening), strict=True))
    except asyncpg.UniqueViolationError:
        return {}
    return {row["ticket_id"]: row["place_at_first"] for row in rows}


def _row(one: Wanted) -> tuple[object, ...]:
    """Write a request as the composite type `wanted_ticket`."""
    request = (one.request.caller, one.request.request_id, one.request.digest, one.ticket_id)
    match one.wish:
        case Wish(ruleset, options, size):
            return (*request, one.party_id, ruleset, stored_options(options), size, one.new_code)
        case code:
            return (*request, None, None, None, None, code)


def _outcome(one: Wanted, row: Any) -> Made | Refusal | Busy:  # noqa: PLR0911 (one a verdict)
    match row["settled"]:
        case "duplicate" if row["digest"] != one.request.digest:
            return MalformedInput.field("request_id", "was used for another request", Reason.REQUEST_ID_REUSED)
        case "duplicate" if row["response"] is not None:
            response: bytes = row["response"]
            return response
        case "made" | "duplicate":
            return _ticket(one.request.caller, row)
        case "queued":
            other = {"ticket_id": row["ticket_id"]}
            return WrongState(Reason.ALREADY_QUEUED, "you have an open ticket already", other)
        case "no party":
            return NotFound(Reason.NO_SUCH_PARTY, "no open party has this code")
        case "full":
            return WrongState(Reason.PARTY_FULL, f"the party is for {row['size']} players, and has them")
        case "busy":
            return Busy.BUSY
        case other:
            raise AssertionError(f"make_tickets answers {other!r}")


def _alone(one: Wanted, place: int) -> Ticket:
    """Return the ticket of who has just opened a party."""
    if isinstance(one.wish, str):
        raise TypeError("who joins a party is not alone in it")
    return Ticket(
        ticket_id=one.ticket_id,
        party_id=one.party_id,
        player=one.request.caller,
        state=TicketState.QUEUED,
        revision=1,
        reason=None,
        culprit=None,
        leader=one.request.caller,
        code=one.new_code,
        ruleset=one.wish.ruleset,
        options=one.wish.options,
        size=one.wish.size,
        players=(one.request.caller,),
        place=place,
        waited_ms=0,
        match_found=False,
        match_id=None,
        table_id=None,
        seats=None,
    )


def _ticket(player: PlayerId, row: Any) -> Ticket:
    """Return the ticket as it was made."""
    return Ticket(
        ticket_id=TicketId(row["ticket_id"]),
        party_id=PartyId(row["party_id"]),
        player=player,
        state=TicketState.QUEUED,
        revision=1,
        reason=None,
        culprit=None,
        leader=row["leader"],
        code=row["code"],
        ruleset=row["ruleset"],
        options=options_if_readable(row["options"]),
        size=row["size"],
        players=tuple(row["players"]),
        place=row["place"],
        waited_ms=0,
        match_found=False,
        match_id=None,
        table_id=None,
        seats=None,
    )
