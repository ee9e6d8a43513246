"""What a bot leads. Pure."""

from collections.abc import Mapping
from typing import Final

from baohuang.rules.cards import SMALL
from baohuang.rules.legal import legal_shapes
from baohuang.rules.plays import Shape, shape_of
from baohuang.rules.rulesets import Ruleset
from baohuang.rules.state import Hand, downstream_of
from command_line.bots.sides import Relation, relation
from command_line.bots.strength import cost, groups

_ALMOST_OUT: Final = 2
_NO_GIFT: Final = 40
"""Keeps a lead of just as many cards as an enemy has left for the worst case."""
_SIZE_BONUS: Final = 3


def lead(ruleset: Ruleset, hand: Hand, seat: int) -> Shape:
    """Return the set to lead: the last cards, a sure win before them, a gift to an ally, else low and large first."""
    own = hand.hands[seat]
    held = groups(own)
    shapes = legal_shapes(own, None, ruleset.roast, ruleset.hold6)
    if whole := shape_of(own):
        return whole
    if sure := _sure_before_the_last(shapes, held):
        return sure
    blocked = _sizes_not_to_lead(hand, seat)
    wanted = _size_for_an_ally(hand, seat)
    return min(shapes, key=lambda shape: (_price(shape, held, blocked, wanted), shape))


def _sure_before_the_last(shapes: list[Shape], held: Mapping[int, int]) -> Shape | None:
    """Return the cheapest set that nothing beats (BEAT-1: one with a BJ) and after which one set is left."""
    sure = [shape for shape in shapes if shape.big and _ranks_left(shape, held) <= 1]
    return min(sure, key=lambda shape: (cost(shape, held), shape), default=None)


def _ranks_left(shape: Shape, held: Mapping[int, int]) -> int:
    """Return how many plain ranks the hand still has after the shape."""
    return sum(1 for rank, count in held.items() if rank < SMALL and (rank != shape.rank or count > shape.plain))


def _price(shape: Shape, held: Mapping[int, int], blocked: frozenset[int], wanted: int | None) -> int:
    """Return how much a lead is to be avoided."""
    if wanted is not None and shape.size == wanted and not shape.big:
        return cost(shape, held) - _NO_GIFT
    price = cost(shape, held) - _SIZE_BONUS * (shape.plain - 1)
    if shape.size in blocked:
        # If it has to be, then with the highest card there is.
        return price + _NO_GIFT - 2 * max(shape.rank, 0)
    return price


def _sizes_not_to_lead(hand: Hand, seat: int) -> frozenset[int]:
    """Return the sizes that would let an enemy go out."""
    return frozenset(
        len(hand.hands[other])
        for other in downstream_of(seat)[1:]
        if 0 < len(hand.hands[other]) <= _ALMOST_OUT and relation(hand, seat, other).is_hostile
    )


def _size_for_an_ally(hand: Hand, seat: int) -> int | None:
    """Return how many cards a known ally has left who plays next and is almost out; None if that is not so."""
    following = next((other for other in downstream_of(seat)[1:] if other not in hand.out), None)
    if following is None or relation(hand, seat, following) is not Relation.ALLY:
        return None
    left = len(hand.hands[following])
    return left if left <= _ALMOST_OUT else None
