"""Skill: Plackett-Luce (openskill) over the two sides of a scored hand, and the soft reset between seasons.

The order of everything that is computed is fixed (the crown's side first, seats ascending), so that computing it anew
gives the very same floating-point values.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from openskill.models import PlackettLuce

from baohuang.scoring.events import HandScored, Role

_MODEL: Final = PlackettLuce()
_WON, _LOST = 0, 1
_CAUTION: Final = 3.0
_CROWN: Final = (Role.EMPEROR, Role.GUARD)


@dataclass(frozen=True, slots=True)
class Skill:
    """A normal distribution: what is thought of a player, and how uncertain it is."""

    mu: float
    sigma: float

    @property
    def ordinal(self) -> float:
        """What leaderboards go by: a skill that the player has almost certainly."""
        return self.mu - _CAUTION * self.sigma


NEW_PLAYER: Final = Skill(_MODEL.mu, _MODEL.sigma)


class Result(Enum):
    """How a hand went for a player: the sign of his points, and nothing else (PTS-3)."""

    WON = "RESULT_WON"
    LOST = "RESULT_LOST"
    DRAWN = "RESULT_DRAWN"


def result_of(points: int) -> Result:
    """PTS-3."""
    if points == 0:
        return Result.DRAWN
    return Result.WON if points > 0 else Result.LOST


def reset(skill: Skill) -> Skill:
    """Return what a player begins a season with after this: the same mean, half as certain of it."""
    return Skill(skill.mu, skill.sigma + (NEW_PLAYER.sigma - skill.sigma) / 2)


def rated(score: HandScored, before: Sequence[Skill]) -> tuple[Skill, ...]:
    """Return the five skills after a hand that is not void, from those before it; both by seat."""
    crown = [seat.seat for seat in score.seats if seat.role in _CROWN]
    rebels = [seat.seat for seat in score.seats if seat.role not in _CROWN]
    teams = [[_MODEL.rating(before[seat].mu, before[seat].sigma) for seat in side] for side in (crown, rebels)]
    after = _MODEL.rate(teams, ranks=_ranks(score.seats[crown[0]].points))
    by_seat = dict(zip((*crown, *rebels), (*after[0], *after[1]), strict=True))
    return tuple(Skill(by_seat[seat].mu, by_seat[seat].sigma) for seat in range(len(score.seats)))


def _ranks(points_of_crown: int) -> list[float]:
    match result_of(points_of_crown):
        case Result.WON:
            return [_WON, _LOST]
        case Result.LOST:
            return [_LOST, _WON]
        case Result.DRAWN:
            return [_WON, _WON]
