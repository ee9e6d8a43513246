"""The schema `matchmaking`."""

from pathlib import Path
from typing import Final

from baohuang.database.schema import Schema

ROLE: Final = "baohuang_matchmaking"
SCHEMA: Final = Schema("matchmaking", ROLE, Path(__file__).with_name("migrations"))
