"""Between the contract's messages and what is asked of the record: what comes in is checked here, and nowhere else.

Every wrong field is a MalformedInput that names it by its proto path.
"""

import re
from collections.abc import Collection, Sequence
from copy import deepcopy
from datetime import UTC, datetime
from hashlib import sha256
from typing import Final, get_args

from msgspec import Struct

from baohuang.eventlog.port import NO_POSITION, NO_VERSION, Position, Version
from baohuang.gen.history.v1 import history_service_pb2 as pb
from baohuang.history.sought import EventsSought, Order, RulingsSought
from baohuang.rpc.auth import caller_id
from baohuang.rpc.errors import MalformedInput
from baohuang.rpc.paging import not_ours, parts_in, size_of
from baohuang.rules.events import EVENT_TYPES, Ruling
from baohuang.rules.state import PlayerId
from table_service.history.asking import stream_in
from table_service.history.past import At

_INSTANT: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})", re.ASCII | re.IGNORECASE
)
_NUMBER: Final = re.compile(r"[0-9]{1,19}", re.ASCII)
_LAST: Final = 2**63 - 1
_EVENTS: Final = (100, 1000)
_RULINGS: Final = (50, 100)
_MOST_TYPES: Final = 20
_KINDS: Final = frozenset(kind.__name__ for kind in get_args(Ruling))
_CLAUSE: Final = re.compile(r"[A-Z0-9-]{1,32}", re.ASCII)
_ORDERS: Final = {
    pb.ORDER_UNSPECIFIED: Order.OLDEST_FIRST,
    pb.ORDER_OLDEST_FIRST: Order.OLDEST_FIRST,
    pb.ORDER_NEWEST_FIRST: Order.NEWEST_FIRST,
}


class EventsAsked(Struct, frozen=True):
    """Which events are asked for, in which order."""

    sought: EventsSought
    order: Order


class Page(Struct, frozen=True):
    """How long a page may be, and the digest of its request, by which the token of the next one is known."""

    size: int
    digest: str


def events_asked(request: pb.ListEventsRequest | pb.StreamEventsRequest) -> EventsAsked:
    """Return the events that a request is for, a page token apart. Raises MalformedInput, NotFound."""
    wanted = request.filter
    before = _position(wanted.before_position, "filter.before_position")
    sought = EventsSought(
        stream_id=stream_in(wanted.table_id) if wanted.table_id else None,
        player=_player(wanted.player, "filter.player"),
        types=_names(wanted.types, EVENT_TYPES, "filter.types"),
        rulings=wanted.rulings,
        since=_instant(wanted.since, "filter.since"),
        until=_instant(wanted.until, "filter.until"),
        after=_position(wanted.after_position, "filter.after_position"),
        before=before or None,
    )
    if request.order not in _ORDERS:
        raise MalformedInput.field("order", "is no order")
    return EventsAsked(sought, _ORDERS[request.order])


def rulings_asked(request: pb.ListRulingsRequest) -> RulingsSought:
    """Return the rulings that a request is for, a page token apart. Raises MalformedInput, NotFound."""
    if request.clause and not _CLAUSE.fullmatch(request.clause):
        raise MalformedInput.field("clause", "is no clause of the rules")
    return RulingsSought(
        stream_id=stream_in(request.table_id) if request.table_id else None,
        player=_player(request.player, "player"),
        kinds=_names(request.kinds, _KINDS, "kinds"),
        clause=request.clause or None,
        since=_instant(request.since, "since"),
        until=_instant(request.until, "until"),
    )


def page_of(request: pb.ListEventsRequest | pb.ListRulingsRequest) -> Page:
    """Return what page is asked for. Raises MalformedInput."""
    size = size_of(request, *(_EVENTS if isinstance(request, pb.ListEventsRequest) else _RULINGS))
    asked = deepcopy(request)
    for field in ("page_size", "page_token", "invitation_code"):
        asked.ClearField(field)
    return Page(size, sha256(asked.SerializeToString(deterministic=True)).hexdigest()[:16])


def position_before(request: pb.ListEventsRequest | pb.ListRulingsRequest, page: Page) -> Position | None:
    """Return the last position of the page before, None for the first page.

    Raises MalformedInput for a token that is none, or that of a page of another request.
    """
    parts = parts_in(request, 2)
    if parts is None:
        return None
    digest, position = parts
    if not _NUMBER.fullmatch(position) or int(position) > _LAST:
        raise not_ours()
    if digest != page.digest:
        raise MalformedInput.field("page_token", "was given for another filter or order")
    return Position(int(position))


def at_in(request: pb.GetTableAtRequest) -> At:
    """Return the version or instant asked for. Raises MalformedInput."""
    match request.WhichOneof("at"):
        case "version":
            return version_in(request)
        case "instant":
            at = _instant(request.instant, "instant")
            if at is None:
                raise MalformedInput.field("instant", "must not be empty")
            return at
        case _:
            raise MalformedInput.field("at", "must be set: version or instant")


def version_in(request: pb.GetTableAtRequest | pb.ExplainRulingRequest) -> Version:
    """Return the version asked for. Raises MalformedInput."""
    if request.version <= NO_VERSION:
        raise MalformedInput.field("version", "versions are numbered from 1")
    return Version(request.version)


def hand_in(request: pb.ExportHandRequest) -> int:
    """Return the number of the hand asked for. Raises MalformedInput."""
    if request.hand < 1:
        raise MalformedInput.field("hand", "hands are numbered from 1")
    return request.hand


def _player(text: str, field: str) -> PlayerId | None:
    if text and caller_id(text) is None:
        raise MalformedInput.field(field, "is no player's id")
    return PlayerId(text) if text else None


def _names(names: Sequence[str], known: Collection[str], field: str) -> tuple[str, ...]:
    if len(names) > _MOST_TYPES:
        raise MalformedInput.field(field, f"at most {_MOST_TYPES}")
    for index, name in enumerate(names):
        if name not in known:
            raise MalformedInput.field(f"{field}[{index}]", "is no type of events that may stand here")
    return tuple(names)


def _position(number: int, field: str) -> Position:
    if number < NO_POSITION:
        raise MalformedInput.field(field, "must not be negative")
    return Position(number)


def _instant(text: str, field: str) -> datetime | None:
    """Return an instant in UTC, None for an empty text. What is finer than microseconds is cut off."""
    if not text:
        return None
    if not _INSTANT.fullmatch(text):
        raise MalformedInput.field(field, "must be an instant of RFC 3339, such as 2026-05-04T12:00:00Z")
    try:
        return datetime.fromisoformat(text.upper()).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise MalformedInput.field(field, "is no moment that there is") from error
