"""Who may not play: an operator's ban and its lifting, each a ruling of its own (RULE-1).

    initial: not banned ──PlayerBanned──► banned ──PlayerReinstated──► not banned

A player's stream is decided like a table's, by three functions and nothing else.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from baohuang.rules.events import Event, PlayerBanned, PlayerReinstated
from baohuang.rules.refusals import Refusal, RefusedError
from baohuang.rules.state import Instant, PlayerId

_RULE = "RULE-1"


@dataclass(frozen=True, slots=True)
class SetBan:
    """An operator bans a player, or lifts his ban, and says why."""

    player: PlayerId
    banned: bool
    note: str
    at: Instant


def is_banned(events: Iterable[Event]) -> bool:
    """Return how the events of a player's stream leave him. Raises ValueError for an event of a table."""
    banned = False
    for event in events:
        match event:
            case PlayerBanned():
                banned = True
            case PlayerReinstated():
                banned = False
            case _:
                raise ValueError(f"{type(event).__name__} is no event of a player")
    return banned


def decide_ban(*, banned: bool, command: SetBan) -> Event:
    """Return the event the command brings about. Raises RefusedError ALREADY_BANNED, NOT_BANNED."""
    if command.banned == banned:
        if banned:
            raise RefusedError(Refusal.ALREADY_BANNED, _RULE, "the player is banned already")
        raise RefusedError(Refusal.NOT_BANNED, _RULE, "the player is not banned")
    kind = PlayerBanned if command.banned else PlayerReinstated
    return kind(command.player, command.note, _RULE, command.at)
