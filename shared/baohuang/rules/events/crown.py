"""The crown (CROWN-1 to CROWN-5)."""

from dataclasses import dataclass

from baohuang.rules.cards import Card
from baohuang.rules.clock import NEVER
from baohuang.rules.settlement import Solo
from baohuang.rules.state import Instant


@dataclass(frozen=True, slots=True)
class CrownOffered:
    """The holder of the crown card is asked first (CROWN-1)."""

    seat: int
    due_at: Instant = NEVER
    """When whoever has to act now must have acted; empty when nobody has to."""


@dataclass(frozen=True, slots=True)
class HiddenPasted:
    """The card pasted to the crown."""

    card: Card


@dataclass(frozen=True, slots=True)
class CrownYielded:
    """A seat refused the crown, with a card pasted to it or not; `turn` is asked next, absent if nobody is."""

    seat: int
    pasted: bool
    turn: int | None
    automatic: bool
    hidden: HiddenPasted | None
    due_at: Instant = NEVER
    """When whoever has to act now must have acted; empty when nobody has to."""


@dataclass(frozen=True, slots=True)
class RedealOrdered:
    """Nobody took the crown: the cards are dealt anew (CROWN-2, CROWN-3)."""

    rule: str


@dataclass(frozen=True, slots=True)
class HiddenCrowning:
    """What the pile brings the emperor (for him), and the guard (for the guard) or hidden solo (for the emperor)."""

    cards: tuple[Card, ...]
    guard: int | None
    solo: Solo | None


@dataclass(frozen=True, slots=True)
class EmperorEnthroned:
    """A seat took the crown (登基), forced or of his own will, with `pile` cards; by open solo or not."""

    seat: int
    rule: str
    forced: bool
    open_solo: bool
    pile: int
    roles_settled: bool
    automatic: bool
    hidden: HiddenCrowning | None
