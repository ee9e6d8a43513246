from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from math import isclose

import pytest
from openskill.models import PlackettLuce

from baohuang.rules.settlement import Solo
from baohuang.scoring.events import HandScored, Role
from rating.postings import hands_of, posting, some_postings
from rating_service.seasons import Season, season_named, season_of
from rating_service.skills import NEW_PLAYER, Result, Skill, rated, reset
from rating_service.standings import Standing, changes_by, standing_in
from scoring.hands import finished_hands

NEW = (NEW_PLAYER,) * 5


def hands() -> list[HandScored]:
    """Return hands of every ruleset that real players played, solos among them."""
    found = [posting(number, hand) for number, hand in enumerate(finished_hands(range(8)), 1)]
    return list(hands_of(found))


def test_who_won_is_the_sign_of_the_points() -> None:
    """PTS-3: the winners' means rise and the losers' fall, whoever was out first; all become more certain."""
    for score in hands():
        for seat, skill in zip(score.seats, rated(score, NEW), strict=True):
            if seat.points:
                assert (skill.mu > NEW_PLAYER.mu) == (seat.points > 0)
            assert skill.sigma < NEW_PLAYER.sigma


def test_the_hands_cover_solos_and_both_results() -> None:
    """The property above is not vacuous."""
    scores = hands()
    assert {score.solo for score in scores} == {None, *Solo}
    emperors = [seat.points for score in scores for seat in score.seats if seat.role is Role.EMPEROR]
    assert min(emperors) < 0 < max(emperors)


def test_the_two_sides_are_what_openskill_is_given() -> None:
    """The crown's side against the rebels, a solo as one against four, with the ranks of the result."""
    model = PlackettLuce()
    for score in hands():
        crown = [seat for seat in score.seats if seat.role in {Role.EMPEROR, Role.GUARD}]
        assert len(crown) == (1 if score.solo else 2)
        ranks = [0.0, 1.0] if crown[0].points > 0 else [1.0, 0.0] if crown[0].points < 0 else [0.0, 0.0]
        teams = [[model.rating() for _ in range(size)] for size in (len(crown), 5 - len(crown))]
        after = model.rate(teams, ranks=ranks)
        for seat, skill in zip(score.seats, rated(score, NEW), strict=True):
            wanted = after[0][0] if seat in crown else after[1][0]
            assert (skill.mu, skill.sigma) == (wanted.mu, wanted.sigma)


def test_a_drawn_hand_brings_unequal_sides_together() -> None:
    """A draw against the stronger side raises the weaker, and is neither won nor lost by anybody."""
    score = next(score for score in hands() if score.solo is None)
    drawn = replace(score, seats=tuple(replace(seat, points=0, base_points=0) for seat in score.seats))
    strong = Skill(40.0, 2.0)
    before = [strong if seat.role in {Role.EMPEROR, Role.GUARD} else NEW_PLAYER for seat in drawn.seats]
    for seat, old, new in zip(drawn.seats, before, rated(drawn, before), strict=True):
        assert (new.mu < old.mu) == (seat.role in {Role.EMPEROR, Role.GUARD})
    assert {change.result for change in changes_by(drawn, {})} == {Result.DRAWN}


def test_computing_anew_gives_the_same_bits() -> None:
    """Every time, for the same skills in the same order."""
    for score in hands():
        once = rated(score, NEW)
        assert [(skill.mu.hex(), skill.sigma.hex()) for skill in rated(score, NEW)] == [
            (skill.mu.hex(), skill.sigma.hex()) for skill in once
        ]


def test_a_void_hand_rates_nobody() -> None:
    """It is in the ledger, and no skill follows from it."""
    voids = [one for one in some_postings(60) if isinstance(one, HandScored) and one.void]
    assert voids
    assert all(changes_by(score, {}) == () for score in voids)


def test_a_new_player_is_at_zero() -> None:
    """Nobody stands above him before he has shown something."""
    assert isclose(NEW_PLAYER.ordinal, 0.0, abs_tol=1e-12)


def test_the_reset_goes_half_way_back() -> None:
    """The mean is kept; the doubt is between what it was and a new player's."""
    skill = Skill(31.0, 2.0)
    assert reset(skill) == Skill(31.0, (2.0 + NEW_PLAYER.sigma) / 2)
    assert reset(NEW_PLAYER) == NEW_PLAYER


def test_one_reset_however_long_he_stayed_away() -> None:
    """A season not played changes nothing; a first hand after two years is like one after a quarter."""
    last = Standing(Season("2026Q1"), Skill(31.0, 2.0), won=3)
    assert standing_in(Season("2026Q1"), last) is last
    assert standing_in(Season("2026Q2"), last) == Standing(Season("2026Q2"), reset(last.skill))
    assert standing_in(Season("2028Q1"), last).skill == reset(last.skill)


@pytest.mark.parametrize(
    ("moment", "season"),
    [
        (datetime(2026, 1, 1, tzinfo=UTC), "2026Q1"),
        (datetime(2026, 3, 31, 23, 59, 59, 999999, tzinfo=UTC), "2026Q1"),
        (datetime(2026, 4, 1, tzinfo=UTC), "2026Q2"),
        (datetime(2026, 12, 31, 23, 59, tzinfo=UTC), "2026Q4"),
        (datetime(2027, 1, 1, 7, tzinfo=timezone(timedelta(hours=8))), "2026Q4"),
    ],
)
def test_seasons_are_quarters_in_utc(moment: datetime, season: str) -> None:
    """The edges belong where UTC has them, whatever zone a moment is told in."""
    assert season_of(moment) == season


@pytest.mark.parametrize("text", ["", "2026", "2026Q5", "2026Q0", "26Q1", "2026Q1 ", "２０２６Q1", "2026q1"])
def test_what_is_no_season(text: str) -> None:
    """Only four digits, Q, and 1 to 4."""
    assert season_named(text) is None
