"""Cards as a person types them: ranks alone suffice, suits and marks are chosen for him. Pure.

99          two nines            9 9 s    two nines and a small joker (`sj`, `b`, `bj` likewise)
10 or T     a ten                9h9c     these very cards; `BJ*`, `SJ*` are the crown and the sword card
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from baohuang.rules.cards import BIG, RANKS, SMALL, STRENGTH, Card, holds, without
from baohuang.rules.legal import cards_for
from baohuang.rules.plays import Shape

_SUITED: Final = re.compile(r"(?:(?:10|[3-9TJQKA2])[CDHS])+")
_CARD: Final = re.compile(r"(10|[3-9TJQKA2])([CDHS])")
_RANKS: Final = re.compile(r"(?:[BS]J?\*?|10|[3-9TJQKA2])+")
_ONE: Final = re.compile(r"[BS]J?\*?|10|[3-9TJQKA2]")
_UNCLEAR: Final = re.compile(r"(?:10|[3-9TJQKA2])S(?!J)")
"""An S right behind a rank: spades or a small joker?"""


class UnreadableError(ValueError):
    """What was typed makes no sense here. `rule` is the clause that says so, "" if none does."""

    def __init__(self, message: str, rule: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.rule = rule


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was typed: cards named exactly, and how many of each strength whatever their suit and mark."""

    exactly: tuple[Card, ...]
    of_strength: Counter[int]


def wanted(text: str) -> Wanted:
    """Return what the words of `text` ask for. Raises UnreadableError naming the word that is none."""
    exactly: list[Card] = []
    of_strength: Counter[int] = Counter()
    for word in text.replace(",", " ").split():
        for one in _cards_of(word):
            if isinstance(one, int):
                of_strength[one] += 1
            else:
                exactly.append(one)
    return Wanted(tuple(exactly), of_strength)


def picked(text: str, held: tuple[Card, ...]) -> tuple[Card, ...]:
    """Return cards of the hand for what was typed, equals by TIE-1. Raises UnreadableError if they are not held."""
    asked = wanted(text)
    if not holds(held, asked.exactly):
        raise UnreadableError(f"you do not hold {' '.join(asked.exactly)}", "SET-1")
    left, cards = without(held, asked.exactly), list(asked.exactly)
    for strength, count in sorted(asked.of_strength.items()):
        cards += _of_strength(left, strength, count)
    return tuple(cards)


def word_for(shape: Shape) -> str:
    """Return what to type for a shape: `99 s b`. A lone ten or queen is upper case, as `t` and `q` are commands."""
    plain = RANKS[shape.rank] * shape.plain if shape.plain else ""
    return " ".join([*([plain] if plain else []), *["s"] * shape.small, *["b"] * shape.big])


def rank_word(strength: int) -> str:
    """Return how a strength is typed."""
    return {SMALL: "SJ", BIG: "BJ"}.get(strength) or RANKS[strength]


def _of_strength(left: tuple[Card, ...], strength: int, count: int) -> tuple[Card, ...]:
    match strength:
        case _ if strength == SMALL:
            shape = Shape(-1, 0, count, 0)
        case _ if strength == BIG:
            shape = Shape(-1, 0, 0, count)
        case _:
            shape = Shape(strength, count, 0, 0)
    try:
        return cards_for(left, shape)
    except ValueError:
        have = sum(STRENGTH[card] == strength for card in left)
        raise UnreadableError(f"you hold {have} of {rank_word(strength)}, not {count}", "SET-1") from None


def _cards_of(word: str) -> Iterator[Card | int]:
    """Yield exact cards and strengths, in the order typed."""
    upper = word.upper()
    if _SUITED.fullmatch(upper):
        yield from (Card(_rank(rank) + suit.lower()) for rank, suit in _CARD.findall(upper))
        return
    if _UNCLEAR.search(upper):
        raise UnreadableError(f"{word!r} may mean spades or a small joker: set jokers apart, as in `9 9 s`")
    if not _RANKS.fullmatch(upper):
        raise UnreadableError(f"{word!r} is no card: 3 to 9, 10 or T, J Q K A 2, s and b for the jokers")
    yield from (_joker_or_rank(one) for one in _ONE.findall(upper))


def _joker_or_rank(one: str) -> Card | int:
    if one.endswith("*"):
        return Card(f"{one[0]}J*")
    if one[0] in "BS":
        return BIG if one[0] == "B" else SMALL
    return RANKS.index(_rank(one))


def _rank(text: str) -> str:
    return "T" if text == "10" else text
