"""The schema `rating`."""

from pathlib import Path
from typing import Final

from baohuang.database.schema import Schema

ROLE: Final = "baohuang_rating"
SCHEMA: Final = Schema("rating", ROLE, Path(__file__).with_name("migrations"))
