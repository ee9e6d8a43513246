"""Trusteeship, fines, extensions, and the evidence that they rest on (sections 6 and 7)."""

from dataclasses import dataclass

from baohuang.rules.clock import NEVER
from baohuang.rules.rulesets import Options
from baohuang.rules.settlement import Solo
from baohuang.rules.state import FineReason, Instant, PlayerId, TrusteeshipReason


@dataclass(frozen=True, slots=True)
class TrusteeshipEntered:
    """Ruling: a seat is played by the trustee from now on (TRUST-1, FINE-2)."""

    seat: int
    player: PlayerId
    reason: TrusteeshipReason
    entry: int
    rule: str
    decided_at: Instant
    due_at: Instant = NEVER
    """The deadline that was missed; empty unless the reason is TIMEOUT."""
    connection_lost_at: Instant = NEVER
    """Since when his line was known to be lost, recorded or, at a TIMEOUT, not; empty if it was not known to be.

    Evidence only (FINE-5).
    """
    rests_on: tuple[int, ...] = ()
    """The versions of the events it rests on, ascending (RULE-1)."""


@dataclass(frozen=True, slots=True)
class TrusteeshipMadePermanent:
    """Ruling: the trusteeship cannot be cancelled in this hand (TRUST-3, FINE-2)."""

    seat: int
    player: PlayerId
    rule: str
    decided_at: Instant
    rests_on: tuple[int, ...] = ()
    """The versions of the events it rests on, ascending (RULE-1)."""


@dataclass(frozen=True, slots=True)
class TrusteeshipCancelled:
    """The player took his seat back (TRUST-3)."""

    seat: int
    player: PlayerId


@dataclass(frozen=True, slots=True)
class PlayerFined:
    """Ruling: a player lost points to the house (FINE-2, FINE-3). `points` is negative."""

    seat: int
    player: PlayerId
    points: int
    reason: FineReason
    roles_settled: bool
    rule: str
    decided_at: Instant
    rests_on: tuple[int, ...] = ()
    """The versions of the events it rests on, ascending (RULE-1)."""


@dataclass(frozen=True, slots=True)
class HandVoided:
    """Ruling: the hand is not scored (TRUST-4), or ended by an operator, with his words as `note` (RULE-1)."""

    rule: str
    trustees: tuple[int, ...]
    decided_at: Instant
    rests_on: tuple[int, ...] = ()
    """The versions of the events it rests on, ascending (RULE-1)."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class FineReversed:
    """Ruling: an operator took a fine back, with his words as `note` (RULE-1). `points` is positive."""

    seat: int
    player: PlayerId
    points: int
    reverses: int
    """The version of the PlayerFined."""
    note: str
    rule: str
    decided_at: Instant
    rests_on: tuple[int, ...] = ()
    """The versions of the events it rests on, ascending (RULE-1)."""


@dataclass(frozen=True, slots=True)
class VoidReversed:
    """Ruling: an operator took back that a hand is void, with his words as `note` (RULE-1).

    It holds all that the points can be computed from, as HandFinished does: those of the hand had it not been void.
    """

    hand: int
    reverses: int
    """The version of the HandVoided."""
    note: str
    rule: str
    decided_at: Instant
    rests_on: tuple[int, ...]
    """The versions of the events it rests on, ascending (RULE-1)."""
    places: tuple[int, ...]
    points: tuple[int, ...]
    emperor: int
    guard: int | None
    solo: Solo | None
    surrendered: bool
    doublings: tuple[str, ...]
    players: tuple[PlayerId, ...]
    ruleset: str
    options: Options
    open_guard: bool
    revolt: bool
    kicked: bool


@dataclass(frozen=True, slots=True)
class TurnExtended:
    """Ruling: a deadline was decided too late to be enforced, by our own delay; the turn begins anew (TRUST-5)."""

    seats: tuple[int, ...]
    missed_due_at: Instant
    rule: str
    decided_at: Instant
    due_at: Instant
    rests_on: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ConnectionLost:
    """Evidence: the player of a seat has no open stream any more, by the replica that had his last one.

    At most one a seat and turn.
    """

    seat: int
    player: PlayerId
    lost_at: Instant


@dataclass(frozen=True, slots=True)
class ConnectionRestored:
    """Evidence: the player of a seat watches again. At most one a seat and turn."""

    seat: int
    player: PlayerId
    restored_at: Instant
