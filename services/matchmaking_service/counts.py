"""What becomes of those who queue, in numbers."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from baohuang.metrics.family import Family, Kind, Reading, alone

WAITING: Final = Family(
    "baohuang_parties_waiting", Kind.GAUGE, "Parties in the queues, when this replica last formed matches."
)
FORMED: Final = Family("baohuang_matches_formed_total", Kind.COUNTER, "Matches that this replica formed.")
SEATED: Final = Family("baohuang_matches_seated_total", Kind.COUNTER, "Matches whose table this replica had opened.")
DISSOLVED: Final = Family(
    "baohuang_matches_dissolved_total",
    Kind.COUNTER,
    "Matches whose table was refused: their parties wait again, but for who was to blame.",
)
PUT_OFF: Final = Family(
    "baohuang_matches_put_off_total",
    Kind.COUNTER,
    "Attempts to open a match's table after which nobody knows what came of it: it is tried again.",
)


@dataclass(slots=True)
class FormingCounts:
    """Of who forms matches."""

    waiting: int = 0
    formed: int = 0


@dataclass(slots=True)
class SeatingCounts:
    """Of who has their tables opened."""

    seated: int = 0
    dissolved: int = 0
    put_off: int = 0


def read_matches(forming: FormingCounts, seating: SeatingCounts) -> Iterator[Reading]:
    """Read the counts of a replica."""
    yield Reading(WAITING, alone(forming.waiting))
    yield Reading(FORMED, alone(forming.formed))
    yield Reading(SEATED, alone(seating.seated))
    yield Reading(DISSOLVED, alone(seating.dissolved))
    yield Reading(PUT_OFF, alone(seating.put_off))
