"""How large a run of the kill test is, and what it does at random."""

from dataclasses import dataclass
from random import Random
from typing import Final

SITTINGS: Final = 2
"""How often everybody queues and plays: between them all who sat together part and queue again."""


@dataclass(frozen=True, slots=True)
class Scale:
    """So many tables, hands at each, kills in all; `seed` decides who is killed when, and who forfeits."""

    tables: int
    hands: int
    kills: int
    seed: int

    def hands_of(self, sitting: int) -> int:
        """Return how many hands a sitting has, from 0: the sittings share a table's hands."""
        return (self.hands + SITTINGS - 1 - sitting) // SITTINGS

    def chance(self, what: object) -> Random:
        """Return what decides one thing, whatever else is decided."""
        return Random(f"{self.seed}:{what}")  # noqa: S311 - a test's, to be had again

    @property
    def all_hands(self) -> int:
        """How many hands are played in all."""
        return self.tables * self.hands
