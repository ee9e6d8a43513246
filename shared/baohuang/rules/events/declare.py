"""Phases, secret answers, the call (SEIZE-1, CALL-1, DECL-0 to DECL-6, KICK-1)."""

from dataclasses import dataclass

from baohuang.rules.cards import Card
from baohuang.rules.clock import NEVER
from baohuang.rules.settlement import Solo
from baohuang.rules.state import Answer, Instant, Phase


@dataclass(frozen=True, slots=True)
class PhaseBegan:
    """A phase of the hand began: `turn` has to act, or each seat `asked` has to answer."""

    phase: Phase
    turn: int | None
    asked: tuple[int, ...]
    due_at: Instant = NEVER
    """When whoever has to act now must have acted; empty when nobody has to."""


@dataclass(frozen=True, slots=True)
class HiddenAnswer:
    """The answer, until it is published for the seat that gave it alone."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class Answered:
    """A seat answered in a simultaneous phase. What, is published with all the others."""

    seat: int
    automatic: bool
    hidden: HiddenAnswer | None


@dataclass(frozen=True, slots=True)
class SeizePublished:
    """The answers to SEIZE: who wanted to seize, and who won (absent: nobody), now emperor by open solo (SEIZE-1)."""

    seizers: tuple[int, ...]
    winner: int | None
    roles_settled: bool


@dataclass(frozen=True, slots=True)
class HiddenCall:
    """The guard (for the guard) or the hidden solo (for the emperor) that a call made."""

    guard: int | None
    solo: Solo | None


@dataclass(frozen=True, slots=True)
class CardCalled:
    """The emperor called a card: its fourth copy is the guard's, or he holds all four (CALL-1)."""

    seat: int
    card: Card
    automatic: bool
    hidden: HiddenCall | None


@dataclass(frozen=True, slots=True)
class OpenSoloDeclared:
    """The emperor declared open solo instead of calling a card (CALL-1)."""

    seat: int


@dataclass(frozen=True, slots=True)
class DeclarationsPublished:
    """The answers to DECLARE and their effects (DECL-1..6).

    `guard` is the guard who is public now, absent if none is; `solo` the emperor's solo if it is public now.
    """

    revolters: tuple[int, ...]
    open_guard: bool
    revolt: bool
    surrendered: bool
    guard: int | None
    solo: Solo | None


@dataclass(frozen=True, slots=True)
class KicksPublished:
    """The answers to KICK (KICK-1)."""

    kickers: tuple[int, ...]
