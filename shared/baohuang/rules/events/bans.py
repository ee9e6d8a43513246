"""Who may not play. These events stand on a stream of the player's own, never on a table's (RULE-1)."""

from dataclasses import dataclass

from baohuang.rules.state import Instant, PlayerId


@dataclass(frozen=True, slots=True)
class PlayerBanned:
    """Ruling: a player may not sit down nor begin a hand any more, by an operator, with his words (RULE-1)."""

    player: PlayerId
    note: str
    rule: str
    decided_at: Instant


@dataclass(frozen=True, slots=True)
class PlayerReinstated:
    """Ruling: a player may play again, by an operator, with his words (RULE-1)."""

    player: PlayerId
    note: str
    rule: str
    decided_at: Instant
