"""Who plays for whom, as far as a seat may know it. Pure; everything comes from the seat's own masked table.

The emperor knows nobody until the guard is public; the guard knows all; a rebel knows the emperor and himself. Who
revolted or kicked in public is no guard, and what is left of the suspects may settle the rest.
"""

from enum import Enum

from baohuang.rules.state import ALL_SEATS, Hand


class Relation(Enum):
    """What another seat is to mine."""

    ALLY = "ally"
    """Known to be of my side."""
    LIKELY_ALLY = "likely ally"
    LIKELY_ENEMY = "likely enemy"
    ENEMY = "enemy"
    """Known to be of the other side."""

    @property
    def is_hostile(self) -> bool:
        """Whether to play against it."""
        return self in {Relation.ENEMY, Relation.LIKELY_ENEMY}


def relation(hand: Hand, seat: int, other: int) -> Relation:
    """Return what `other` is to `seat`, by what `seat` may know. Raises ValueError before there is an emperor."""
    emperor = hand.roles.emperor
    if emperor is None:
        raise ValueError("there are no sides before there is an emperor")
    if seat == emperor:
        return _to_emperor(hand, emperor, other)
    if seat == hand.roles.guard:
        return Relation.ALLY if other == emperor else Relation.ENEMY
    return Relation.ENEMY if other == emperor else _between_subjects(hand, seat, other)


def is_guard(hand: Hand, seat: int) -> bool:
    """Tell whether the seat is the guard, by what it may know itself."""
    return hand.roles.guard == seat


def _to_emperor(hand: Hand, emperor: int, other: int) -> Relation:
    if hand.roles.solo is not None:
        return Relation.ENEMY
    if hand.roles.guard is not None:
        return Relation.ALLY if other == hand.roles.guard else Relation.ENEMY
    suspects = _suspects(hand, emperor)
    if other not in suspects:
        return Relation.ENEMY
    return Relation.ALLY if len(suspects) == 1 else Relation.LIKELY_ENEMY


def _between_subjects(hand: Hand, seat: int, other: int) -> Relation:
    if hand.roles.solo is not None or other in _rebels_by_word(hand):
        return Relation.ALLY
    if hand.roles.guard is not None:
        return Relation.ENEMY if other == hand.roles.guard else Relation.ALLY
    return Relation.LIKELY_ENEMY if _suspects(hand, seat) == (other,) else Relation.LIKELY_ALLY


def _suspects(hand: Hand, seat: int) -> tuple[int, ...]:
    """Return the seats that may be the hidden guard, as `seat` sees it."""
    cleared = {seat, hand.roles.emperor, *_rebels_by_word(hand)}
    return tuple(other for other in ALL_SEATS if other not in cleared)


def _rebels_by_word(hand: Hand) -> frozenset[int]:
    """Return the seats that showed themselves as opponents of the crown (DECL-3, KICK-1)."""
    return frozenset((*hand.stakes.revolters, *hand.stakes.kickers))
