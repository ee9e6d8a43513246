"""What keeps a player out of two hands at once, and a banned one out of all: names held in the log (FINE-6, RULE-1).

A table holds `hand:<player>` while he plays its hand, a player's own stream `ban:<player>` while he is banned. Which
names an append claims, gives up, or needs free follows from its events, here and nowhere else; the log refuses it if
another stream holds one, however many replicas race.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from baohuang.eventlog.port import ClaimName, StreamId
from baohuang.rules.events import (
    Event,
    HandFinished,
    HandStarted,
    PlayerBanned,
    PlayerFined,
    PlayerReinstated,
    PlayerSat,
    ReadinessSet,
)
from baohuang.rules.state import PlayerId, Table, TableId

KEPT: Final = frozenset({"a_name_is_claimed_once", "a_name_is_unclaimed"})
"""The constraints of the log that keep these names."""


@dataclass(slots=True)
class Claims:
    """What an append does to names."""

    claims: list[ClaimName] = field(default_factory=list)
    releases: list[ClaimName] = field(default_factory=list)
    unclaimed: list[ClaimName] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Kept:
    """Who is kept away from a table, as the log just said: by a hand at which table, by a ban."""

    hands: Mapping[PlayerId, TableId] = field(default_factory=dict)
    banned: frozenset[PlayerId] = frozenset()


NOBODY_KEPT: Final = Kept()


def hand_of(player: PlayerId) -> ClaimName:
    """Return the name that is held by the table whose hand the player plays."""
    return ClaimName(f"hand:{player}")


def ban_of(player: PlayerId) -> ClaimName:
    """Return the name that is held while the player is banned."""
    return ClaimName(f"ban:{player}")


def claims_of(events: Iterable[Event], after: Table | None = None) -> Claims:
    """Return what the events do to names; `after` is the table as they leave it."""
    claims = Claims()
    for event in events:
        match event:
            case PlayerSat(player=player) | ReadinessSet(player=player, ready=True):
                claims.unclaimed += [hand_of(player), ban_of(player)]
            case HandStarted(players=players):
                claims.claims += map(hand_of, players)
                claims.unclaimed += map(ban_of, players)
            case PlayerFined(player=player):
                claims.releases.append(hand_of(player))
            case HandFinished() if after is not None and after.hand is not None:
                claims.releases += map(hand_of, after.hand.players)
            case PlayerBanned(player=player):
                claims.claims.append(ban_of(player))
            case PlayerReinstated(player=player):
                claims.releases.append(ban_of(player))
            case _:
                pass
    return claims


def kept_by(holders: Mapping[ClaimName, StreamId], own: StreamId) -> Kept:
    """Return who is kept away by names that other streams hold."""
    others = {name: stream_id for name, stream_id in holders.items() if stream_id != own}
    told = {name: name.partition(":") for name in others}
    return Kept(
        hands={PlayerId(who): TableId(others[name]) for name, (kind, _, who) in told.items() if kind == "hand"},
        banned=frozenset(PlayerId(who) for kind, _, who in told.values() if kind == "ban"),
    )
