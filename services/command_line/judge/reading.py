"""Reading a case: every input is checked, and a wrong one is a CaseError that names its key."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from baohuang.rules.cards import COPIES, CROWN, SWORD, Card, UnknownCardError, parse_cards, unmarked
from baohuang.rules.deal import SEATS
from baohuang.rules.plays import Shape, shape_of
from baohuang.rules.rulesets import (
    OptionError,
    Options,
    Ruleset,
    UnknownRulesetError,
    parse_options,
    ruleset_named,
    with_options,
)
from baohuang.rules.settlement import Solo

Case = Mapping[str, Any]


class CaseError(ValueError):
    """The case is malformed: which key, and why."""


def ruleset_of(case: Case) -> tuple[Ruleset, Options]:
    """Return the case's ruleset with its options applied, and the options; raise CaseError."""
    given = case.get("options") or {}
    if not isinstance(given, dict):
        raise CaseError("options: must be an object")
    try:
        options = parse_options(given)
        return with_options(ruleset_named(_text(case, "ruleset")), options), options
    except (UnknownRulesetError, OptionError) as error:
        raise CaseError(str(error)) from error


def cards_in(text: object, key: str) -> tuple[Card, ...]:
    """Return the cards of one text; raise CaseError for an unknown card or more copies than four decks have."""
    if not isinstance(text, str):
        raise CaseError(f"{key}: must be a text of cards")
    try:
        cards = parse_cards(text)
    except UnknownCardError as error:
        raise CaseError(f"{key}: {error}") from error
    check_copies(cards, key)
    return cards


def check_copies(cards: tuple[Card, ...], key: str) -> None:
    """Raise CaseError for more than four copies of a card, or a mark that is there twice (DECK-1, DECK-3)."""
    for mark in (CROWN, SWORD):
        if cards.count(mark) > 1:
            raise CaseError(f"{key}: {mark} is held twice")
    card, count = max(Counter(map(unmarked, cards)).items(), key=lambda item: item[1], default=("", 0))
    if count > COPIES:
        raise CaseError(f"{key}: {count} copies of {card}")


def set_in(case: Case, key: str) -> Shape:
    """Return the shape of the set under `key`; raise CaseError if it is none."""
    shape = shape_of(cards_in(case.get(key), key))
    if shape is None:
        raise CaseError(f"{key}: is no set")
    return shape


def seat_in(value: object, key: str) -> int:
    """Return a seat 0..4; raise CaseError."""
    if type(value) is not int or not 0 <= value < SEATS:
        raise CaseError(f"{key}: must be a seat from 0 to {SEATS - 1}")
    return value


def optional_seat_in(case: Case, key: str) -> int | None:
    """Return a seat, None if the key is absent or null; raise CaseError."""
    return None if case.get(key) is None else seat_in(case[key], key)


def flag_in(case: Case, key: str) -> bool:
    """Return true or false, false if absent or null; raise CaseError."""
    value = case.get(key)
    if value is not None and type(value) is not bool:
        raise CaseError(f"{key}: must be true or false")
    return bool(value)


def solo_in(case: Case) -> Solo | None:
    """Return the solo named `open` or `hidden`; None if absent or null; raise CaseError."""
    match case.get("solo"):
        case None:
            return None
        case "open":
            return Solo.OPEN
        case "hidden":
            return Solo.HIDDEN
        case _:
            raise CaseError("solo: must be null, open or hidden")


def places_in(case: Case) -> tuple[int, ...]:
    """Return all five seats in order of going out; raise CaseError."""
    value = case.get("places")
    if not isinstance(value, list) or len(value) != SEATS:
        raise CaseError("places: must be all five seats")
    places = tuple(seat_in(seat, "places") for seat in value)
    if len(set(places)) != SEATS:
        raise CaseError("places: a seat is named twice")
    return places


def _text(case: Case, key: str) -> str:
    value = case.get(key)
    if not isinstance(value, str):
        raise CaseError(f"{key}: must be a text")
    return value
