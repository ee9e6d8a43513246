"""Whether the keys that tokens are checked with can be read, for whoever has to mend them."""

from collections.abc import Iterator
from typing import Final

from baohuang.metrics.family import Family, Kind, Reading, alone
from baohuang.rpc.key_ring import KeyRing

UNSOUND: Final = Family(
    "baohuang_keys_unsound_seconds",
    Kind.GAUGE,
    "For how long the JWK set could not be read or used, so that older keys are in force; 0 while it can. Not told "
    "without a set.",
)


def read_keys(keys: KeyRing | None) -> Iterator[Reading]:
    """Read how it goes to read them."""
    yield Reading(UNSOUND, alone(keys.reading.seconds) if keys else {})
