"""Where players stand, and what a posting changes of it. Pure: the standings before come in, the changes go out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from baohuang.rules.state import PlayerId
from baohuang.scoring.events import HandScored
from rating_service.seasons import Season, season_of
from rating_service.skills import NEW_PLAYER, Result, Skill, rated, reset, result_of


@dataclass(frozen=True, slots=True)
class Standing:
    """A player's skill in a season, and how many of its hands went which way."""

    season: Season
    skill: Skill = NEW_PLAYER
    won: int = 0
    lost: int = 0
    drawn: int = 0

    @property
    def hands(self) -> int:
        """How many hands rated him."""
        return self.won + self.lost + self.drawn


@dataclass(frozen=True, slots=True)
class Change:
    """What one hand changed of one player's standing."""

    player: PlayerId
    points: int
    result: Result
    before: Skill
    after: Standing


def standing_in(season: Season, last: Standing | None) -> Standing:
    """Return what a player has in a season, or begins it with, by his last standing in it or before it.

    However many seasons he stayed away, there is one reset.
    """
    if last is None:
        return Standing(season)
    return last if last.season == season else Standing(season, reset(last.skill))


def changes_by(score: HandScored, last: Mapping[PlayerId, Standing]) -> Sequence[Change]:
    """Return what a hand changes, by seat; nothing when it is void.

    `last` has each player's last standing in the hand's season or before it; nobody's who has none.
    """
    if score.void:
        return ()
    season = season_of_hand(score)
    begin = [standing_in(season, last.get(seat.player)) for seat in score.seats]
    after = rated(score, [standing.skill for standing in begin])
    return [
        Change(seat.player, seat.points, result_of(seat.points), standing.skill, _after(standing, skill, seat.points))
        for seat, standing, skill in zip(score.seats, begin, after, strict=True)
    ]


def season_of_hand(score: HandScored) -> Season:
    """Return the season of a hand: that in which it ended."""
    return season_of(datetime.fromisoformat(score.finished_at))


_TALLIES: Final = {Result.WON: "won", Result.LOST: "lost", Result.DRAWN: "drawn"}


def _after(standing: Standing, skill: Skill, points: int) -> Standing:
    tally = _TALLIES[result_of(points)]
    return replace(standing, skill=skill, **{tally: getattr(standing, tally) + 1})
