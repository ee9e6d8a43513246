"""How many calls there were, by method, and what those came to that were not answered."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from baohuang.metrics.family import Family, Kind, Labels, Reading
from baohuang.rpc.reason import Reason

CALLS: Final = Family(
    "baohuang_calls_total", Kind.COUNTER, "Calls and streams that were begun, by method.", ("method",)
)
OPEN: Final = Family("baohuang_calls_open", Kind.GAUGE, "Calls and streams under way, by method.", ("method",))
REFUSED: Final = Family(
    "baohuang_calls_refused_total",
    Kind.COUNTER,
    "Calls and streams that ended with a refusal, by its reason.",
    ("method", "reason"),
)
FAILED: Final = Family(
    "baohuang_calls_failed_total", Kind.COUNTER, "Calls that met a bug and got INTERNAL, by method.", ("method",)
)


@dataclass(slots=True)
class CallCounts:
    """Of one method."""

    begun: int = 0
    ended: int = 0
    failed: int = 0
    refused: defaultdict[Reason, int] = field(default_factory=lambda: defaultdict(int))


def read_calls(counts: Mapping[str, CallCounts]) -> Iterator[Reading]:
    """Read the counts of all methods, by their full names."""
    methods = dict(counts)
    yield Reading(CALLS, {(method,): one.begun for method, one in methods.items()})
    # In this order: what ends meanwhile was begun before.
    ended = {method: one.ended for method, one in methods.items()}
    yield Reading(OPEN, {(method,): one.begun - ended[method] for method, one in methods.items()})
    refused: dict[Labels, int] = {}
    for method, one in methods.items():
        refused |= {(method, str(reason)): number for reason, number in dict(one.refused).items()}
    yield Reading(REFUSED, refused)
    yield Reading(FAILED, {(method,): one.failed for method, one in methods.items()})
