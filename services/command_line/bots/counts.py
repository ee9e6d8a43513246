"""How the process that plays for bots fares, in numbers."""

from collections.abc import Iterator
from typing import Final

from baohuang.metrics.family import Family, Kind, Reading, alone
from baohuang.rpc.trouble import Trouble

KEPT_OUT: Final = Family(
    "baohuang_bots_kept_out_seconds",
    Kind.GAUGE,
    "For how long the tables at which bots sit could not be looked for; 0 while they can.",
)


def read_looking(looking: Trouble) -> Iterator[Reading]:
    """Read how it goes to look for tables."""
    yield Reading(KEPT_OUT, alone(looking.seconds))
