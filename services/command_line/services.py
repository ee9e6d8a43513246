"""The services that there are, for whoever runs one or starts one; nothing is imported for them here."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Service:
    """A service of this project, or a replica of one: `python -m <module>` with its address in `listen_variable`."""

    name: str
    module: str
    listen_variable: str


TABLE: Final = Service("table", "table_service.main", "BAOHUANG_TABLE_LISTEN")
SCORING: Final = Service("scoring", "scoring_service.main", "BAOHUANG_SCORING_LISTEN")
RATING: Final = Service("rating", "rating_service.main", "BAOHUANG_RATING_LISTEN")
MATCHMAKING: Final = Service("matchmaking", "matchmaking_service.main", "BAOHUANG_MATCHMAKING_LISTEN")
BOTS: Final = Service("bots", "command_line.bots.main", "BAOHUANG_BOTS_LISTEN")
HISTORY: Final = Service("history", "table_service.history.main", "BAOHUANG_HISTORY_LISTEN")
"""Tables serve it too; alone it reads a replica of the database."""
BESIDE_TABLES: Final = (SCORING, RATING, MATCHMAKING, BOTS)
"""All but the table service, which is always there."""
