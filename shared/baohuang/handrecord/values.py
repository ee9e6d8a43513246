"""Single values of an event: seats, cards, instants. The rules rely on them; of a stranger's data they are checked."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Final, get_type_hints

from baohuang.handrecord.malformed import MalformedRecord
from baohuang.rules.cards import STRENGTH, UnknownCardError, parse_card
from baohuang.rules.deal import SEATS
from baohuang.rules.events import Event

SEAT_FIELDS: Final = frozenset(
    {
        "seat", "turn", "dealer", "payer", "receiver", "emperor", "guard", "winner", "asked", "places", "seats",
        "seizers", "revolters", "kickers", "trustees",
    }
)  # fmt: skip
"""Fields of events, and of what is in them, that hold a seat, or seats each at most once."""
BY_SEAT_FIELDS: Final = frozenset({"players", "entropy", "sizes", "points"})
"""Fields that hold one value a seat."""
CARD_FIELDS: Final = frozenset({"card", "cards"})
INSTANT_FIELDS: Final = frozenset(
    {"due_at", "closes_at", "decided_at", "missed_due_at", "connection_lost_at", "lost_at", "restored_at"}
)
"""Fields that hold an instant, or nothing."""
INSTANT: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z"
"""The one form of an instant, as a regular expression."""
_NAMED: Final = SEAT_FIELDS | BY_SEAT_FIELDS | CARD_FIELDS | INSTANT_FIELDS
_INSTANT: Final = re.compile(INSTANT)


def check_values(where: str, event: Event) -> None:
    """Check the values of an event, `where` being its place. Raises MalformedRecord naming the first that is wrong."""
    _check_fields(where, event)


def check_instant(where: str, value: str) -> None:
    """Check that a text is an instant as the log writes them. Raises MalformedRecord."""
    if not _INSTANT.fullmatch(value):
        raise MalformedRecord(where, f"must be an instant as 2026-01-31T08:05:09.000123Z, not {value!r}")


def _check_fields(where: str, value: Any) -> None:
    cls: Any = type(value)
    for name, written in _names(cls):
        _check_field(f"{where}.{written}", name, getattr(value, name))


def _check_field(where: str, name: str, value: Any) -> None:
    if is_dataclass(value):
        _check_fields(where, value)
    elif name in SEAT_FIELDS:
        _check_seats(where, value)
    elif name in CARD_FIELDS:
        _check_cards(where, value)
    elif name in INSTANT_FIELDS and value:
        check_instant(where, value)
    elif name in BY_SEAT_FIELDS and isinstance(value, tuple):
        _check_by_seat(where, value)
    elif isinstance(value, tuple):
        for place, one in _placed(where, value):
            if is_dataclass(one):
                _check_fields(place, one)


def _check_seats(where: str, value: int | tuple[int, ...] | None) -> None:
    seats = value if isinstance(value, tuple) else () if value is None else (value,)
    for seat in seats:
        if not 0 <= seat < SEATS:
            raise MalformedRecord(where, f"seats are 0 to {SEATS - 1}, there is no seat {seat}")
    if len(set(seats)) != len(seats):
        raise MalformedRecord(where, "a seat is named twice")


def _check_cards(where: str, value: str | tuple[str, ...]) -> None:
    if isinstance(value, tuple) and STRENGTH.keys() >= set(value):
        return
    for place, card in _placed(where, value) if isinstance(value, tuple) else ((where, value),):
        try:
            parse_card(card)
        except UnknownCardError as error:
            raise MalformedRecord(place, str(error)) from error


def _check_by_seat(where: str, value: tuple[object, ...]) -> None:
    # HandFinished did not always name the players.
    if len(value) != SEATS and (value or not where.endswith(".players")):
        raise MalformedRecord(where, f"must hold one value for each of {SEATS} seats, not {len(value)}")


def _placed(where: str, values: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    for number, value in enumerate(values):
        yield f"{where}[{number}]", value


@cache
def _names(cls: Any) -> tuple[tuple[str, str], ...]:
    """Return the fields of a class in which something can be wrong, each with its name in JSON."""
    hints = get_type_hints(cls)
    return tuple((field.name, _camel(field.name)) for field in fields(cls) if _is_looked_at(field.name, hints))


def _is_looked_at(name: str, hints: Mapping[str, Any]) -> bool:
    return name in _NAMED or hints[name] not in {int, bool, str}


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(word.capitalize() for word in tail)
