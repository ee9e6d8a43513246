"""What a hand is worth, and what it would cost to part with some of it. Pure.

Worth is counted in tens of a rank or so, from the cards that win tricks: BJ 4, SJ 3, 2 one, A a half. A hand of a full
deal is worth 10 on average, with a standard deviation of about 4.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from baohuang.rules.cards import BIG, RANKS, SMALL, STRENGTH, Card
from baohuang.rules.plays import Shape

ACE: Final = RANKS.index("A")
TWO: Final = RANKS.index("2")
CROWN_WORTH: Final = 4.0
_WORTH: Final[Mapping[int, float]] = MappingProxyType({BIG: 4.0, SMALL: 3.0, TWO: 1.0, ACE: 0.5})
_BIG_COST: Final = 30
_SMALL_COST: Final = 20
_BREAKING_COST: Final = 6
_RELIEF: Final = 2
"""What each plain card is worth to be rid of, beyond the first."""


def worth(cards: Iterable[Card]) -> float:
    """Return what the cards are worth."""
    return sum(_WORTH.get(STRENGTH[card], 0.0) for card in cards)


def groups(cards: Iterable[Card]) -> Mapping[int, int]:
    """Return how many cards of each strength there are, jokers included."""
    return Counter(STRENGTH[card] for card in cards)


def turns_to_finish(held: Mapping[int, int]) -> int:
    """Return how many sets a hand falls into if nobody ever beats one: its plain ranks, or one for jokers alone."""
    plain = sum(1 for strength in held if strength < SMALL)
    return plain or (1 if held else 0)


def cost(shape: Shape, held: Mapping[int, int]) -> int:
    """Return what playing the shape costs a hand: its rank, the jokers in it, the set it breaks up; cheap is low."""
    spent = _BIG_COST * shape.big + _SMALL_COST * shape.small
    if not shape.plain:
        return spent
    broken = held[shape.rank] - shape.plain
    return spent + shape.rank + (_BREAKING_COST + broken if broken else 0) - _RELIEF * (shape.plain - 1)
