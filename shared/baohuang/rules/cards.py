"""Cards: notation, ranks and the order in which clauses pick among equals.

Notation: rank then suit, `3..9 T J Q K A 2` × `s h d c`; `BJ` and `SJ` are the jokers, `BJ*` is the crown card
(皇牌) and `SJ*` the sword card (侍卫牌). A hand is a multiset: the four copies of one suited card are the same card.
"""

from collections.abc import Iterable
from typing import Final, NewType

Card = NewType("Card", str)
"""One card in notation, e.g. `9h`, `Tc`, `SJ`, `BJ*`."""

CROWN: Final = Card("BJ*")
SWORD: Final = Card("SJ*")
HIDDEN: Final = Card("??")
"""Stands for a card that the viewer of a masked state may not know; it is in no deck."""

RANKS: Final = "3456789TJQKA2"
"""Plain ranks from low to high; a rank's index here is its strength (DECK-1)."""
SUITS: Final = "cdhs"
"""Suits in the order of TIE-1. Suits never decide a play."""
SMALL: Final = len(RANKS)
"""Strength of a small joker, marked or not (DECK-3)."""
BIG: Final = SMALL + 1
"""Strength of a big joker, marked or not (DECK-3)."""

PLAIN: Final = tuple(Card(rank + suit) for rank in RANKS for suit in SUITS)
JOKERS: Final = (Card("SJ"), SWORD, Card("BJ"), CROWN)

STRENGTH: Final[dict[Card, int]] = {card: RANKS.index(card[0]) for card in PLAIN} | {
    Card("SJ"): SMALL,
    SWORD: SMALL,
    Card("BJ"): BIG,
    CROWN: BIG,
}
ORDER: Final[dict[Card, int]] = {card: place for place, card in enumerate((*PLAIN, *JOKERS))} | {HIDDEN: -1}
"""Place in the order lowest to highest, among equals TIE-1: unmarked before marked, then c, d, h, s."""

COPIES: Final = 4
"""Copies of every suited card, and of each joker counted with its marked one, in a full deck (DECK-1)."""


class UnknownCardError(ValueError):
    """A text that is not a card in this notation."""


def parse_card(text: str) -> Card:
    """Return the card written `text`; raise UnknownCardError naming it if there is none."""
    card = Card(text)
    if card not in STRENGTH:
        raise UnknownCardError(f"{text!r} is not a card")
    return card


def parse_cards(text: str) -> tuple[Card, ...]:
    """Return the cards written in `text`, separated by blanks, in the order given; raise UnknownCardError."""
    return tuple(parse_card(word) for word in text.split())


def in_order(cards: Iterable[Card]) -> tuple[Card, ...]:
    """Return the cards from lowest to highest, equals by TIE-1."""
    return tuple(sorted(cards, key=ORDER.__getitem__))


def unmarked(card: Card) -> Card:
    """Return the card without its crown or sword: the two play alike (DECK-3)."""
    return Card(card[:2])


def highest(cards: Iterable[Card]) -> Card | None:
    """Return the highest card, equals by TIE-1 (unmarked first, then c, d, h, s); None if there is none."""
    return min(cards, key=lambda card: (-STRENGTH[card], ORDER[card]), default=None)


def holds(hand: Iterable[Card], wanted: Iterable[Card]) -> bool:
    """Tell whether the multiset `hand` contains the multiset `wanted`."""
    left = list(hand)
    try:
        for card in wanted:
            left.remove(card)
    except ValueError:
        return False
    return True


def without(hand: tuple[Card, ...], gone: Iterable[Card]) -> tuple[Card, ...]:
    """Return `hand` less the cards `gone`. A masked hand (of HIDDEN cards) loses as many of those.

    Raises ValueError if a card is not there.
    """
    left = list(hand)
    masked = bool(left) and left[0] == HIDDEN
    for card in gone:
        left.remove(HIDDEN if masked else card)
    return tuple(left)


def identical(hand: Iterable[Card], copies: int) -> tuple[Card, ...]:
    """Return the plain cards of which the hand holds exactly `copies`, lowest first (CROWN-3, CALL-1)."""
    held = list(hand)
    return in_order(card for card in set(held) if card in _PLAIN_SET and held.count(card) == copies)


_PLAIN_SET: Final = frozenset(PLAIN)
