"""What a metric is, without what serves it: a process that serves none never needs that."""

import enum
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

Labels = tuple[str, ...]
"""Values of a family's labels, in their order. Nothing of a player, a table or a card."""


class Kind(enum.StrEnum):
    """How Prometheus is to read a family."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Family:
    """Metrics of one name (`baohuang_…`; a counter's ends in `_total`): what it says, and by what it is told apart."""

    name: str
    kind: Kind
    says: str
    labels: tuple[str, ...] = ()


class Histogram:
    """How many of what was counted are at most so large.

    `counts` has one for each of the bounds, and one for what is larger.
    """

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        """Take ascending bounds."""
        self.bounds: Final = tuple(bounds)
        self.counts: Final = [0] * (len(self.bounds) + 1)
        self.total = 0.0

    def add(self, value: float) -> None:
        """Count one."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value


@dataclass(frozen=True, slots=True)
class Reading:
    """A family with what it has now by its labels; a counter's and a gauge's are numbers.

    Keys are `Labels`; that they are of one length each is nothing that a type of mappings can say.
    """

    family: Family
    values: Mapping[Any, float | Histogram]


Source = Callable[[], Iterable[Reading]]
"""Reads something's counts. It is called on another thread than what counts, so it reads and changes nothing."""


class Metrics:
    """All that a process counts."""

    def __init__(self) -> None:
        self._sources: list[Source] = []

    def add(self, source: Source) -> None:
        """Read this too, from now on."""
        self._sources.append(source)

    def readings(self) -> Sequence[Reading]:
        """Read everything: each family once, whoever counts for it."""
        found: dict[Family, Any] = {}
        for source in tuple(self._sources):
            for reading in source():
                found.setdefault(reading.family, {}).update(reading.values)
        return [Reading(family, values) for family, values in found.items()]


def alone(value: float | Histogram) -> Mapping[Labels, float | Histogram]:
    """Return the value of a family without labels."""
    return {(): value}
