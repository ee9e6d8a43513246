"""Sitting down, getting ready, standing up; a table from its opening to its end (TABLE-1)."""

from dataclasses import dataclass

from baohuang.rules.rulesets import Options
from baohuang.rules.state import Instant, PlayerId, TableId


@dataclass(frozen=True, slots=True)
class TableOpened:
    """A table was opened with a ruleset and options (TABLE-1)."""

    table_id: TableId
    ruleset: str
    options: Options
    opened_by: PlayerId


@dataclass(frozen=True, slots=True)
class PlayerSat:
    """A player took an empty seat."""

    seat: int
    player: PlayerId


@dataclass(frozen=True, slots=True)
class PlayerStood:
    """A player left his seat between hands."""

    seat: int
    player: PlayerId


@dataclass(frozen=True, slots=True)
class ReadinessSet:
    """A player got ready (开始), with entropy for the deal if he likes, or took it back."""

    seat: int
    player: PlayerId
    ready: bool
    entropy: str


@dataclass(frozen=True, slots=True)
class TableDissolved:
    """Ruling: the table is closed, since a seat was in trusteeship when the hand ended (TRUST-4)."""

    rule: str
    trustees: tuple[int, ...]
    decided_at: Instant
    rests_on: tuple[int, ...] = ()
    """The versions of the events it rests on, ascending (RULE-1)."""
