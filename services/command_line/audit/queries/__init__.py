"""What has to hold between log, ledger and ratings: one file a rule, which gives a row with `finding` for each breach.

The file's first line says what holds. They run in one snapshot, as a user who may read all three schemas.
"""

from importlib.resources import files
from typing import Final

REACHED: Final = "reached"
"""No rule: how far ledger and ratings have got."""
SET_ASIDE: Final = "set_aside"
"""No rule: what could not be applied."""
_NAMES: Final = (entry.name for entry in files(__name__).iterdir())
RULES: Final = tuple(sorted(name.removesuffix(".sql") for name in _NAMES if name[0].isdigit()))
"""The names of the rules, in the order in which they are checked."""


def rule(name: str) -> str:
    """Return the text of a rule's query."""
    return files(__name__).joinpath(f"{name}.sql").read_text(encoding="utf-8")
