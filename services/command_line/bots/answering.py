"""What a bot answers to a set on the table: the cheapest that beats it, if that is worth its price. Pure."""

from collections.abc import Mapping
from typing import Final

from baohuang.rules.legal import legal_shapes
from baohuang.rules.plays import Shape, shape_of
from baohuang.rules.rulesets import Ruleset
from baohuang.rules.state import Hand, downstream_of
from command_line.bots.sides import Relation, is_guard, relation
from command_line.bots.strength import cost, groups, turns_to_finish

_UNLIMITED: Final = 1_000
_AGAINST_ENEMY: Final = 14
_AGAINST_LIKELY_ALLY: Final = 7
_GUARD_EXTRA: Final = 5
_PER_CARD_ON_TABLE: Final = 2
_CLOSE: Final = 6
_NEAR: Final = 12
_FEW_TURNS: Final = 3


def answer(ruleset: Ruleset, hand: Hand, seat: int) -> Shape | None:
    """Return the set to play on the one on the table, None to pass.

    Always the last cards if they win; never over an ally still in, who is known to be one.
    """
    own = hand.hands[seat]
    shapes = legal_shapes(own, shape_of(hand.trick.cards), ruleset.roast, ruleset.hold6)
    for shape in shapes:
        if shape.size == len(own):
            return shape
    if not shapes:
        return None
    held = groups(own)
    cheapest = min(shapes, key=lambda shape: (cost(shape, held), shape))
    return cheapest if cost(cheapest, held) <= _budget(hand, seat, held) else None


def _budget(hand: Hand, seat: int, held: Mapping[int, int]) -> int:
    """Return the highest cost worth paying to beat what is on the table."""
    player = _who_gains(hand)
    match relation(hand, seat, player) if player != seat else Relation.ALLY:
        case Relation.ALLY:
            return -_UNLIMITED
        case Relation.LIKELY_ALLY:
            return _AGAINST_LIKELY_ALLY
        case Relation.LIKELY_ENEMY | Relation.ENEMY:
            return _against_enemy(hand, seat, len(hand.hands[player]), held)


def _against_enemy(hand: Hand, seat: int, enemy_left: int, held: Mapping[int, int]) -> int:
    if enemy_left <= _CLOSE or turns_to_finish(held) <= _FEW_TURNS:
        return _UNLIMITED
    near = _NEAR if enemy_left <= _NEAR else 0
    guarding = _GUARD_EXTRA if is_guard(hand, seat) else 0
    return _AGAINST_ENEMY + _PER_CARD_ON_TABLE * len(hand.trick.cards) + near + guarding


def _who_gains(hand: Hand) -> int:
    """Return who leads next if all pass: who played, or, once he is out, who catches the wind (WIND-1)."""
    player = hand.trick.player
    if player is None:
        raise ValueError("there is no set on the table to answer")
    return next(other for other in downstream_of(player) if other not in hand.out)
