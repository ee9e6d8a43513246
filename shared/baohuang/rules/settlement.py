"""Points of a finished hand (section 5): PTS-L, PTS-H, DECL-5."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from baohuang.rules.deal import SEATS
from baohuang.rules.rulesets import PointsTable, Ruleset

Points = tuple[int, ...]
"""Points by seat; they sum to zero."""


class Solo(Enum):
    """An emperor who plays alone against four (独保)."""

    OPEN = "SOLO_OPEN"
    HIDDEN = "SOLO_HIDDEN"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What decides the points. `places` are the seats in order of going out, empty after a surrender."""

    emperor: int
    guard: int | None
    solo: Solo | None
    places: tuple[int, ...] = ()
    open_guard: bool = False
    revolt: bool = False
    kicked: bool = False
    surrendered: bool = False


_SURRENDER: Final = 4
_OURGAME_PLACES: Final = 6
_OURGAME_OPEN: Final = 24
_OURGAME_HIDDEN: Final = (12, 0, -12, -12, -12)
_HOMY_PLACES: Final = (4, 2, 0, -2, -4)
_HOMY_OPEN: Final = 32
_SWEEPS: Final = ({0, 1}, {3, 4})


def settle(ruleset: Ruleset, outcome: Outcome) -> Points:
    """Return the points by seat. Raises ValueError if the outcome names neither a guard nor a solo."""
    if outcome.surrendered:
        return _alone(outcome.emperor, -_SURRENDER)
    if outcome.solo is None and outcome.guard is None:
        raise ValueError("a hand without a solo is settled by its guard's place, and there is no guard")
    return _ourgame(outcome) if ruleset.points is PointsTable.OURGAME else _homy(ruleset, outcome)


def doublings(ruleset: Ruleset, outcome: Outcome) -> tuple[str, ...]:
    """Return what doubled the points, each as `CLAUSE reason`, in the order applied."""
    if outcome.surrendered:
        return ()
    found = []
    if ruleset.sweep_doubling and outcome.solo is None and _swept(outcome):
        found.append("PTS-H sweep")
    if _forced_open(outcome):
        found.append("DECL-3 revolt" if outcome.revolt else "DECL-1 open guard")
    if ruleset.points is PointsTable.HOMY and outcome.kicked:
        found.append("KICK-1 kicked")
    return tuple(found)


def _ourgame(outcome: Outcome) -> Points:
    """PTS-L. Open guard and revolt double once; an open solo knows neither (DECL-6)."""
    place = outcome.places.index(outcome.emperor)
    if outcome.solo is Solo.OPEN:
        return _alone(outcome.emperor, _OURGAME_OPEN if place == 0 else -_OURGAME_OPEN)
    doubled = 2 if _forced_open(outcome) else 1
    if outcome.solo is Solo.HIDDEN:
        return _alone(outcome.emperor, _OURGAME_HIDDEN[place] * doubled)
    guard_place = outcome.places.index(_guard(outcome))
    return _two_sides(outcome, (_OURGAME_PLACES - (place + 1) - (guard_place + 1)) * doubled)


def _homy(ruleset: Ruleset, outcome: Outcome) -> Points:
    """PTS-H. The doublings multiply; an open solo's own is already inside its 32."""
    place = outcome.places.index(outcome.emperor)
    kicked = 2 if outcome.kicked else 1
    if outcome.solo is Solo.OPEN:
        return _alone(outcome.emperor, (_HOMY_OPEN if place == 0 else -_HOMY_OPEN) * kicked)
    doubled = kicked * (2 if _forced_open(outcome) else 1)
    if outcome.solo is Solo.HIDDEN:
        return _alone(outcome.emperor, 4 * _HOMY_PLACES[place] * doubled)
    sweep = 2 if ruleset.sweep_doubling and _swept(outcome) else 1
    both = _HOMY_PLACES[place] + _HOMY_PLACES[outcome.places.index(_guard(outcome))]
    return _two_sides(outcome, both * sweep * doubled)


def _forced_open(outcome: Outcome) -> bool:
    """DECL-1, DECL-3, DECL-4: open guard or revolt, both together once; a solo knows revolts only."""
    if outcome.solo is Solo.OPEN:
        return False
    return outcome.revolt or (outcome.open_guard and outcome.solo is None)


def _swept(outcome: Outcome) -> bool:
    return {outcome.places.index(outcome.emperor), outcome.places.index(_guard(outcome))} in _SWEEPS


def _guard(outcome: Outcome) -> int:
    if outcome.guard is None:
        raise ValueError("there is no guard")
    return outcome.guard


def _alone(emperor: int, points: int) -> Points:
    """One against four: the others share the loss or the win evenly."""
    return tuple(points if seat == emperor else -points // (SEATS - 1) for seat in range(SEATS))


def _two_sides(outcome: Outcome, unit: int) -> Points:
    """Two against three: E twice the guard's points, each rebel their negative."""
    by_role = {outcome.emperor: 2 * unit, outcome.guard: unit}
    return tuple(by_role.get(seat, -unit) for seat in range(SEATS))


def sides_of(outcome: Outcome) -> tuple[Sequence[int], Sequence[int]]:
    """Return the seats of the crown's side and of its opponents, each ascending."""
    crown = [outcome.emperor] if outcome.solo else sorted((outcome.emperor, _guard(outcome)))
    return crown, [seat for seat in range(SEATS) if seat not in crown]
