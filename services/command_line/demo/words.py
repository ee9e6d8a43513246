"""Cards, roles and seats in a few characters."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from baohuang.rules.cards import Card, in_order
from baohuang.rules.state import Hand, Table

EMPEROR: Final = "皇"
GUARD: Final = "侍"
REBEL: Final = "民"
UNKNOWN: Final = "？"
PLACES: Final = ("头客", "二客", "三客", "二拉", "大拉")
_TEN: Final[Mapping[str, str]] = MappingProxyType({"T": "10"})


def faces(cards: Iterable[Card]) -> str:
    """Write a set as it is called out: ranks and jokers, low to high, no suits (`9 9 9 SJ`)."""
    return " ".join(_face(card) for card in in_order(cards))


def names(cards: Iterable[Card]) -> str:
    """Write cards in notation, low to high (`9h Tc SJ*`)."""
    return " ".join(in_order(cards))


def _face(card: Card) -> str:
    return card if card.endswith(("J", "J*")) and card[0] in "BS" else _TEN.get(card[0], card[0])


def player_at(table: Table, seat: int) -> str:
    """Return the name of who plays the seat in the hand, or else sits there."""
    return table.hand.players[seat] if table.hand else table.seats[seat].player


def role_mark(hand: Hand | None, seat: int) -> str:
    """Return the seat's role as everybody may know it; empty before there is an emperor."""
    if hand is None or hand.roles.emperor is None:
        return ""
    if seat == hand.roles.emperor:
        return EMPEROR
    if hand.roles.solo is not None:
        return REBEL
    if hand.roles.guard is None:
        return UNKNOWN
    return GUARD if seat == hand.roles.guard else REBEL


def called(table: Table, seat: int) -> str:
    """Return role and name: `皇 Chen`."""
    return f"{role_mark(table.hand, seat)} {player_at(table, seat)}".strip()


def listed(table: Table, seats: Iterable[int]) -> str:
    """Return several seats as they are called, `nobody` if there are none."""
    return ", ".join(called(table, seat) for seat in seats) or "nobody"
