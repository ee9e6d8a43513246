"""The schema `scoring`."""

from pathlib import Path
from typing import Final

from baohuang.database.schema import Schema
from baohuang.eventlog.postgres.schema import READERS

ROLE: Final = "baohuang_scoring"
SCHEMA: Final = Schema("scoring", ROLE, Path(__file__).with_name("migrations"), reads=(READERS,))
