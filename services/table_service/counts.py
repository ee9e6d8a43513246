"""What happens at the tables of this replica, in numbers: nothing of who, where, or which cards."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Protocol, get_args

from baohuang.metrics.family import Family, Histogram, Kind, Labels, Reading, alone
from baohuang.rpc.reason import Reason
from baohuang.rules.events import Event, HandFinished, HandStarted, Ruling

COMMANDS: Final = Family(
    "baohuang_commands_total",
    Kind.COUNTER,
    "Commands that came to the handler, the clock's included, by outcome: ACCEPTED, a reason, or FAILED (a bug).",
    ("outcome",),
)
RULINGS: Final = Family(
    "baohuang_rulings_total", Kind.COUNTER, "Rulings that this replica stored, by event and clause.", ("type", "clause")
)
STARTED: Final = Family("baohuang_hands_started_total", Kind.COUNTER, "Hands that this replica saw begin.")
FINISHED: Final = Family(
    "baohuang_hands_finished_total",
    Kind.COUNTER,
    "Hands that ended here, by ruleset and ending: played or void.",
    ("ruleset", "ending"),
)
POSITION: Final = Family(
    "baohuang_log_position", Kind.GAUGE, "The position in the log of the last event that this replica stored."
)
WATCHERS: Final = Family("baohuang_watchers", Kind.GAUGE, "Watches of tables that are open on this replica.")
SLOW: Final = Family(
    "baohuang_slow_readers_total", Kind.COUNTER, "Watches that were ended since their reader did not keep up."
)
HELD: Final = Family("baohuang_tables_held", Kind.GAUGE, "Tables in this replica's memory.")
LATE: Final = Family(
    "baohuang_deadline_lateness_seconds",
    Kind.HISTOGRAM,
    "Seconds from a deadline to its being decided, of those that this replica fired.",
)
CLOCK: Final = Family(
    "baohuang_clock_offset_seconds",
    Kind.GAUGE,
    "By how much this machine's wall clock is ahead of the database's, which alone counts.",
)
_RULINGS: Final = frozenset(get_args(Ruling))
_LATE: Final = (0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)


class Watched(Protocol):
    """Who has the watches."""

    slow_readers: int

    @property
    def watches(self) -> int:
        """How many there are."""


class Held(Protocol):
    """Who has the tables."""

    @property
    def number(self) -> int:
        """How many there are."""


@dataclass(slots=True)
class CommandCounts:
    """Of the handler."""

    accepted: int = 0
    failed: int = 0
    position: int = 0
    hands_started: int = 0
    refused: defaultdict[Reason, int] = field(default_factory=lambda: defaultdict(int))
    rulings: defaultdict[Labels, int] = field(default_factory=lambda: defaultdict(int))
    hands_finished: defaultdict[Labels, int] = field(default_factory=lambda: defaultdict(int))

    def happened(self, events: Sequence[Event]) -> None:
        """Count what was stored; most of it are plays, which are none of these."""
        for event in events:
            kind: Any = type(event)
            if kind in _RULINGS:
                self.rulings[kind.__name__, getattr(event, "rule", "")] += 1
            elif isinstance(event, HandFinished):
                self.hands_finished[event.ruleset, "void" if event.void else "played"] += 1
            elif isinstance(event, HandStarted):
                self.hands_started += 1


def read_commands(counts: CommandCounts) -> Iterator[Reading]:
    """Read the counts of the handler."""
    outcomes: dict[Labels, int] = {(str(reason),): number for reason, number in dict(counts.refused).items()}
    yield Reading(COMMANDS, {**outcomes, ("ACCEPTED",): counts.accepted, ("FAILED",): counts.failed})
    yield Reading(RULINGS, dict(counts.rulings))
    yield Reading(STARTED, alone(counts.hands_started))
    yield Reading(FINISHED, dict(counts.hands_finished))
    yield Reading(POSITION, alone(counts.position))


def lateness() -> Histogram:
    """Return what counts how late deadlines are."""
    return Histogram(_LATE)


def read_replica(hub: Watched, tables: Held, late: Histogram, now: Callable[[], datetime]) -> Iterator[Reading]:
    """Read what a replica has: `now` is the database's clock."""
    yield Reading(WATCHERS, alone(hub.watches))
    yield Reading(SLOW, alone(hub.slow_readers))
    yield Reading(HELD, alone(tables.number))
    yield Reading(LATE, alone(late))
    yield Reading(CLOCK, alone((datetime.now(UTC) - now()).total_seconds()))
