"""Sitting down, getting ready, standing up; a table from its opening to its end (TABLE-1)."""

from dataclasses import dataclass

from baohuang.rules.clock import NEVER
from baohuang.rules.rulesets import Options
from baohuang.rules.state import ClosingReason, Instant, PlayerId, TableId, UnseatingReason


@dataclass(frozen=True, slots=True)
class TableOpened:
    """A table was opened with a ruleset and options (TABLE-1)."""

    table_id: TableId
    ruleset: str
    options: Options
    opened_by: PlayerId
    closes_at: Instant = NEVER
    """When it is closed as abandoned unless somebody sits down."""
    invitation_digest: str = ""
    """What is kept of a private table's invitation code, in hex; empty for a table that is open to all."""


@dataclass(frozen=True, slots=True)
class PlayerSat:
    """A player took an empty seat."""

    seat: int
    player: PlayerId
    due_at: Instant = NEVER
    """When he is unseated unless he is ready."""


@dataclass(frozen=True, slots=True)
class PlayerStood:
    """A player left his seat between hands."""

    seat: int
    player: PlayerId
    closes_at: Instant = NEVER
    """When the table is closed as abandoned; empty while anybody sits."""


@dataclass(frozen=True, slots=True)
class ReadinessSet:
    """A player got ready (开始), with entropy for the deal if he likes, or took it back."""

    seat: int
    player: PlayerId
    ready: bool
    entropy: str
    due_at: Instant = NEVER
    """When he is unseated unless he is ready; if he is, unless a hand begins."""


@dataclass(frozen=True, slots=True)
class PlayerUnseated:
    """Ruling: a player lost his seat between hands (TABLE-1), or as the next was to begin (FINE-6, RULE-1)."""

    seat: int
    player: PlayerId
    reason: UnseatingReason
    rule: str
    decided_at: Instant
    due_at: Instant = NEVER
    """The deadline that was missed; empty unless the reason is NOT_READY or WAITED_TOO_LONG."""
    closes_at: Instant = NEVER
    """When the table is closed as abandoned; empty while anybody sits."""
    rests_on: tuple[int, ...] = ()
    """The versions of the events it rests on, ascending (RULE-1)."""


@dataclass(frozen=True, slots=True)
class TableClosed:
    """Ruling: the table is closed for good: abandoned (TABLE-1), or by an operator, with his words (RULE-1)."""

    reason: ClosingReason
    note: str
    rule: str
    decided_at: Instant
    rests_on: tuple[int, ...] = ()
    """The versions of the events it rests on, ascending (RULE-1)."""


@dataclass(frozen=True, slots=True)
class TableDissolved:
    """Ruling: the table is closed, since a seat was in trusteeship when the hand ended (TRUST-4)."""

    rule: str
    trustees: tuple[int, ...]
    decided_at: Instant
    rests_on: tuple[int, ...] = ()
    """The versions of the events it rests on, ascending (RULE-1)."""
