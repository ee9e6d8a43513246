"""All benches, in the order in which they run."""

from typing import Final

from . import append, disk
from .row import Bench

BENCHES: Final[tuple[Bench, ...]] = (disk.BENCH, append.BENCH)
