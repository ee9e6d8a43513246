"""The deal and tribute (DEAL-1, TRIB-1, TRIB-2)."""

from dataclasses import dataclass

from baohuang.rules.cards import Card
from baohuang.rules.clock import NEVER
from baohuang.rules.state import Instant


@dataclass(frozen=True, slots=True)
class SeatCards:
    """Cards of one seat."""

    seat: int
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class HiddenHands:
    """The hands a viewer may see: his own; all of them once the hand is over."""

    hands: tuple[SeatCards, ...]


@dataclass(frozen=True, slots=True)
class CardsDealt:
    """The deck was shuffled and dealt (DEAL-1)."""

    deal: int
    dealer: int
    sizes: tuple[int, ...]
    hidden: HiddenHands | None


@dataclass(frozen=True, slots=True)
class TributeCount:
    """How many cards a payer paid to a receiver."""

    payer: int
    receiver: int
    count: int


@dataclass(frozen=True, slots=True)
class PaidCards:
    """Which cards a payer paid to a receiver."""

    payer: int
    receiver: int
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class HiddenPayments:
    """The payments a viewer paid or received."""

    payments: tuple[PaidCards, ...]


@dataclass(frozen=True, slots=True)
class TributePaid:
    """All tribute was paid at once (TRIB-1). `turn` returns first; absent if nobody can return anything."""

    payments: tuple[TributeCount, ...]
    turn: int | None
    hidden: HiddenPayments | None
    due_at: Instant = NEVER
    """When whoever has to act now must have acted; empty when nobody has to."""


@dataclass(frozen=True, slots=True)
class HiddenCards:
    """Cards that only some may see."""

    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class TributeReturned:
    """A receiver returned cards (TRIB-2). `turn` returns next; absent after the last return."""

    seat: int
    payer: int
    count: int
    turn: int | None
    automatic: bool
    hidden: HiddenCards | None
    due_at: Instant = NEVER
    """When whoever has to act now must have acted; empty when nobody has to."""
