"""What a bench measures, and what it is."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One measured value beside its baseline, both in `unit` and from the same run.

    More is better, of milliseconds and bytes less.
    """

    name: str
    value: float
    unit: str
    baseline: float | None = None
    against: str = ""
    """What the baseline is, in a few words."""

    @property
    def ratio(self) -> float | None:
        """The value as a multiple of its baseline."""
        return self.value / self.baseline if self.baseline else None


@dataclass(frozen=True, slots=True)
class Bench:
    """Rows that are measured together, by their names, and the function that measures those that are wanted."""

    rows: tuple[str, ...]
    run: Callable[[Sequence[str]], Awaitable[Sequence[Row]]]
