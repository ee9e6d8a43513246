"""What a flush loop did: how large its flushes were, how long they took, what their commands came to."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Protocol

from baohuang.metrics.family import Family, Histogram, Kind, Reading

SIZE: Final = Family(
    "baohuang_flush_commands", Kind.HISTOGRAM, "Commands that went to the database together, a flush.", ("store",)
)
SECONDS: Final = Family(
    "baohuang_flush_seconds", Kind.HISTOGRAM, "Seconds that a flush took, its commit included.", ("store",)
)
OUTCOMES: Final = Family(
    "baohuang_flush_outcomes_total",
    Kind.COUNTER,
    "Commands that were flushed, by what they came to. Event log: Appended, VersionConflict, Duplicate, Refused, "
    "TooEarly, TooLate, Corrupted. Queue of tickets: Queued, or the reason of a refusal. "
    "Tables of matches: Noted. All: Busy.",
    ("store", "outcome"),
)
FAILED: Final = Family(
    "baohuang_flushes_failed_total",
    Kind.COUNTER,
    "Flushes without outcomes: unsent (no connection, or lost), refused (by the database), bug.",
    ("store", "cause"),
)
IN_FLIGHT: Final = Family(
    "baohuang_flush_in_flight_seconds",
    Kind.GAUGE,
    "Seconds that the flush under way has not been answered for; 0: none is under way.",
    ("store",),
)
WAITING: Final = Family("baohuang_flush_waiting", Kind.GAUGE, "Commands that wait for their flush.", ("store",))

_COMMANDS: Final = (1, 2, 3, 5, 8, 13, 20, 30, 50, 75, 100)
_SECONDS: Final = (0.0005, 0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


@dataclass(slots=True)
class FlushCounts:
    """Of one store. `outcomes` are by the words of its kind."""

    commands: Histogram = field(default_factory=lambda: Histogram(_COMMANDS))
    seconds: Histogram = field(default_factory=lambda: Histogram(_SECONDS))
    outcomes: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    unsent: int = 0
    refused: int = 0
    bugs: int = 0


class Flushing(Protocol):
    """A flush loop, as far as it is counted."""

    @property
    def counts(self) -> FlushCounts:
        """Return what it counts."""

    @property
    def name(self) -> str:
        """Return the name of its store."""

    @property
    def waiting(self) -> int:
        """Return how many commands wait."""

    @property
    def in_flight_seconds(self) -> float:
        """Return for how long the flush under way has been so."""


def read_flushes(loop: Flushing) -> Iterator[Reading]:
    """Read the counts of a flush loop."""
    store, counts = loop.name, loop.counts
    yield Reading(SIZE, {(store,): counts.commands})
    yield Reading(SECONDS, {(store,): counts.seconds})
    outcomes = dict(counts.outcomes)  # a copy at once: it grows while it is read
    yield Reading(OUTCOMES, {(store, word): number for word, number in outcomes.items()})
    causes = {"unsent": counts.unsent, "refused": counts.refused, "bug": counts.bugs}
    yield Reading(FAILED, {(store, cause): number for cause, number in causes.items()})
    yield Reading(IN_FLIGHT, {(store,): loop.in_flight_seconds})
    yield Reading(WAITING, {(store,): loop.waiting})
