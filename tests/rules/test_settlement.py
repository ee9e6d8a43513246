"""Points: PTS-L, PTS-H, PTS-3, DECL-4, DECL-5, DECL-6, KICK-1, over all outcomes there are."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations, product
from typing import Final

import pytest

from baohuang.rules.rulesets import RULESETS, RulesetId
from baohuang.rules.settlement import Outcome, Solo, doublings, settle, sides_of
from rules.playing import RULESET_NAMES

_FLAGS: Final = tuple(product((False, True), repeat=3))
_HOMY_PLACES: Final = {1: 4, 2: 2, 3: 0, 4: -2, 5: -4}


def _outcomes() -> Iterator[Outcome]:
    """Yield all outcomes: 120 places, every emperor with every guard and both solos, every flag."""
    for places in permutations(range(5)):
        for emperor in range(5):
            roles: list[tuple[int | None, Solo | None]] = [(seat, None) for seat in range(5) if seat != emperor]
            for guard, solo in (*roles, (None, Solo.OPEN), (None, Solo.HIDDEN)):
                for open_guard, revolt, kicked in _FLAGS:
                    yield Outcome(emperor, guard, solo, places, open_guard, revolt, kicked)


def _told(homy: bool, outcome: Outcome) -> tuple[int, ...]:  # noqa: FBT001 - which of the two tables
    """Section 5 in its own words."""
    place = {seat: number for number, seat in enumerate(outcome.places, 1)}
    emperor, guard = outcome.emperor, outcome.guard
    first = place[emperor] == 1
    kicked = 2 if homy and outcome.kicked else 1
    if outcome.solo is Solo.OPEN:
        each = (8 if homy else 6) * kicked * (-1 if first else 1)
        return tuple(-4 * each if seat == emperor else each for seat in range(5))
    if outcome.solo is Solo.HIDDEN:
        each = -_HOMY_PLACES[place[emperor]] if homy else {1: -3, 2: 0}.get(place[emperor], 3)
        each *= (2 if outcome.revolt else 1) * kicked
        return tuple(-4 * each if seat == emperor else each for seat in range(5))
    assert guard is not None
    both = {place[emperor], place[guard]}
    unit = sum(_HOMY_PLACES[number] for number in both) if homy else 6 - sum(both)
    unit *= 2 if homy and both in ({1, 2}, {4, 5}) else 1
    unit *= (2 if outcome.open_guard or outcome.revolt else 1) * kicked
    return tuple(2 * unit if seat == emperor else unit if seat == guard else -unit for seat in range(5))


@pytest.mark.parametrize("name", RULESET_NAMES)
def test_all_outcomes(name: str) -> None:
    """PTS-L, PTS-H: every outcome has the points the section tells, they sum to zero, and sides share a sign."""
    ruleset = RULESETS[RulesetId(name)]
    for outcome in _outcomes():
        points = settle(ruleset, outcome)
        assert points == _told(name.startswith("homy"), outcome), outcome
        assert sum(points) == 0
        crown, opponents = sides_of(outcome)
        assert len({points[seat] for seat in opponents}) == 1
        assert {points[seat] > 0 for seat in crown} != {True, False}


@pytest.mark.parametrize("name", [name for name in RULESET_NAMES if name.startswith("homy")])
def test_a_surrender_costs_four_whatever_else_was_said(name: str) -> None:
    """DECL-5: −4 for him, +1 each for the others, no multipliers."""
    for emperor, (open_guard, revolt, kicked) in product(range(5), _FLAGS):
        outcome = Outcome(emperor, None, Solo.HIDDEN, (), open_guard, revolt, kicked, surrendered=True)
        points = settle(RULESETS[RulesetId(name)], outcome)
        assert points == tuple(-4 if seat == emperor else 1 for seat in range(5))
        assert doublings(RULESETS[RulesetId(name)], outcome) == ()


@pytest.mark.parametrize("name", RULESET_NAMES)
def test_doublings_told_are_the_doublings_applied(name: str) -> None:
    """DECL-4, KICK-1, PTS-H: taking every doubling away leaves the points divided by two for each one named."""
    ruleset = RULESETS[RulesetId(name)]
    for outcome in _outcomes():
        plain = replace(outcome, open_guard=False, revolt=False, kicked=False)
        single = settle(replace(ruleset, sweep_doubling=False), plain)
        factor = 2 ** len(doublings(ruleset, outcome))
        assert settle(ruleset, outcome) == tuple(points * factor for points in single)


def _settled(ruleset: str, places: str, *, emperor: int = 0, guard: int | None = 1, **flags: bool) -> tuple[int, ...]:
    outcome = Outcome(emperor, guard, None, tuple(map(int, places)), **flags)
    return settle(RULESETS[RulesetId(ruleset)], outcome)


def test_examples_of_pts_l() -> None:
    """PTS-L: g = 6 − (place E + place G); E = 2g, G = g, each R = −g; doubled once."""
    assert _settled("ourgame-simple", "01234") == (6, 3, -3, -3, -3)
    assert _settled("ourgame-simple", "02314") == (2, 1, -1, -1, -1)
    assert _settled("ourgame-simple", "23401") == (-6, -3, 3, 3, 3)
    assert _settled("ourgame-simple", "02341") == (0, 0, 0, 0, 0)
    assert _settled("ourgame-simple", "01234", open_guard=True, revolt=True) == (12, 6, -6, -6, -6)
    assert _settled("ourgame-simple", "01234", kicked=True) == (6, 3, -3, -3, -3)


def test_examples_of_pts_h() -> None:
    """PTS-H: S = p(E) + p(G); a sweep, an open role and a kick each double."""
    assert _settled("homy-standard", "01234") == (24, 12, -12, -12, -12)
    assert _settled("homy-standard", "02134") == (8, 4, -4, -4, -4)
    assert _settled("homy-standard", "23401") == (-24, -12, 12, 12, 12)
    assert _settled("homy-standard", "02341") == (0, 0, 0, 0, 0)
    assert _settled("homy-standard", "02134", open_guard=True, revolt=True, kicked=True) == (32, 16, -16, -16, -16)


def test_won_is_the_sign_of_the_points() -> None:
    """PTS-3: the crown's side may be out first and still not have won."""
    assert _settled("homy-classic", "02341")[0] == 0
    assert _settled("ourgame-classic", "02341")[0] == 0


def test_a_hand_with_neither_guard_nor_solo_cannot_be_settled() -> None:
    """An engine that got here has lost a role: that is an error, not a result."""
    outcome = Outcome(0, None, None, (0, 1, 2, 3, 4))
    with pytest.raises(ValueError, match="no guard"):
        settle(RULESETS[RulesetId("homy-standard")], outcome)
    with pytest.raises(ValueError, match="no guard"):
        sides_of(outcome)
