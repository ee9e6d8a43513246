"""Tricks (PLAY-1, PLAY-2, WIND-1, ROLE-1, END-3)."""

from dataclasses import dataclass

from baohuang.rules.cards import Card
from baohuang.rules.clock import NEVER
from baohuang.rules.state import Instant


@dataclass(frozen=True, slots=True)
class SeatWentOut:
    """A seat had no card when PLAY began (END-3)."""

    seat: int


@dataclass(frozen=True, slots=True)
class CardsPlayed:
    """A seat played a set (出牌). `turn` acts next, absent when the hand is over; `place` 1..5 if this was his last."""

    seat: int
    cards: tuple[Card, ...]
    left: int
    place: int
    turn: int | None
    automatic: bool
    due_at: Instant = NEVER
    """When whoever has to act now must have acted; empty when nobody has to."""


@dataclass(frozen=True, slots=True)
class Passed:
    """A seat passed (过牌). `turn` acts next; he leads if this ended the trick (PLAY-2, WIND-1)."""

    seat: int
    turn: int
    trick_over: bool
    automatic: bool
    due_at: Instant = NEVER
    """When whoever has to act now must have acted; empty when nobody has to."""


@dataclass(frozen=True, slots=True)
class RoleRevealed:
    """The guard, or the hidden solo of the emperor, became public by a play (ROLE-1)."""

    seat: int
    solo: bool
