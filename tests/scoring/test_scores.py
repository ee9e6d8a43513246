from collections.abc import Callable
from dataclasses import replace
from math import prod

import pytest

from baohuang.rules.events import HandFinished, PlayerFined, VoidReversed
from baohuang.rules.rulesets import Options
from baohuang.rules.settlement import Solo
from baohuang.rules.state import PlayerId
from baohuang.scoring.events import FinePosted, FineReturned, HandScored, PostingNumber, Role
from scoring.hands import a_hand, fine_reversed, fined, finished_hands, settling, settling_events, void_reversed
from scoring_service.entries import HOUSE, Entry, account_of, entries_of, owner_of
from scoring_service.scores import posted
from scoring_service.settling import Unscorable

NUMBER = PostingNumber(3)
SEEDS = range(8)


def score_of(hand: HandFinished) -> HandScored:
    """Score a hand."""
    score = posted(NUMBER, settling(hand))
    assert isinstance(score, HandScored)
    return score


@pytest.fixture(scope="module")
def hands() -> list[HandFinished]:
    """Give hands of every ruleset that real players played."""
    return list(finished_hands(SEEDS))


def test_points_are_derived_from_base_points_and_doublings(hands: list[HandFinished]) -> None:
    """Base points times every factor are the points, which are the table's own and sum to zero (section 5)."""
    for hand in hands:
        score = score_of(hand)
        factor = prod(doubling.factor for doubling in score.doublings)
        assert tuple(seat.points for seat in score.seats) == hand.points
        assert all(seat.base_points * factor == seat.points for seat in score.seats)
        assert sum(seat.points for seat in score.seats) == 0
        assert [f"{doubling.rule} {doubling.reason}" for doubling in score.doublings] == list(hand.doublings)


def test_every_seat_has_its_role_and_its_place(hands: list[HandFinished]) -> None:
    """One emperor, a guard unless there is a solo, rebels else; places 1 to 5 as the hand has them."""
    for hand in hands:
        score = score_of(hand)
        roles = [seat.role for seat in score.seats]
        assert roles.count(Role.EMPEROR) == 1
        assert roles.count(Role.GUARD) == (hand.solo is None)
        places = {seat.place: seat.seat for seat in score.seats if seat.place}
        assert tuple(places[place] for place in sorted(places)) == hand.places
        assert tuple(seat.player for seat in score.seats) == hand.players


def test_the_hands_cover_the_points_tables(hands: list[HandFinished]) -> None:
    """None of the properties above is vacuous: both tables, both solos and doublings are among the hands."""
    scores = list(map(score_of, hands))
    assert {score.rule for score in scores} >= {"PTS-L", "PTS-H"}
    assert {score.solo for score in scores} == {None, *Solo}
    assert {doubling.rule for score in scores for doubling in score.doublings} >= {"PTS-H", "KICK-1", "DECL-1"}


Spoil = Callable[[HandFinished], HandFinished]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda hand: replace(hand, points=(8, -2, -2, -2, -2)), "the points are"),
        (lambda hand: replace(hand, points=()), "the points are"),
        (lambda hand: replace(hand, kicked=not hand.kicked, open_guard=not hand.open_guard), "the doublings are"),
        (lambda hand: replace(hand, players=()), "five players make a hand, not nobody"),
        (lambda hand: replace(hand, players=(hand.players[0],) * 5), "five players make a hand"),
        (lambda hand: replace(hand, players=(*hand.players[:4], "")), "five players make a hand"),
        (lambda hand: replace(hand, options=None), "does not say its options"),
        (lambda hand: replace(hand, options=Options(turn_seconds=0)), "turn_seconds"),
        (lambda hand: replace(hand, ruleset="homy-none"), "homy-none"),
        (lambda hand: replace(hand, emperor=None), "no emperor at seat None"),
        (lambda hand: replace(hand, emperor=5), "no emperor at seat 5"),
        (lambda hand: replace(hand, guard=None), "either a guard or a solo"),
        (lambda hand: replace(hand, guard=hand.emperor), "no guard at seat"),
        (lambda hand: replace(hand, solo=Solo.OPEN), "either a guard or a solo"),
        (lambda hand: replace(hand, surrendered=True), "only a hidden solo surrenders"),
        (lambda hand: replace(hand, places=(0, 1, 2, 3, 3)), "are not those of five seats"),
        (lambda hand: replace(hand, void=True), "the points are 0 0 0 0 0"),
    ],
)
def test_a_hand_that_does_not_add_up_is_told_so(spoil: Spoil, said: str) -> None:
    """Whatever the event says that its own facts contradict, the reason names it, and nothing is scored."""
    with pytest.raises(Unscorable, match=said):
        score_of(spoil(a_hand()))


def test_a_void_hand_is_recorded_and_books_nothing() -> None:
    """It has its players and no points, no clause, no doublings, no entries; an emperor it need not have (RULE-1)."""
    hand = replace(a_hand(), void=True, points=(0,) * 5, doublings=(), emperor=None, guard=None, solo=None, places=())
    score = score_of(hand)
    assert (score.void, score.rule, score.doublings, entries_of(score)) == (True, "", (), ())
    assert all((seat.points, seat.role, seat.place) == (0, None, None) for seat in score.seats)
    assert tuple(seat.player for seat in score.seats) == hand.players


def test_a_surrender_costs_four() -> None:
    """DECL-5: -4 for the emperor, +1 for each other, no multipliers, no places."""
    hand = replace(
        a_hand(), ruleset="homy-standard", emperor=2, guard=None, solo=Solo.HIDDEN, surrendered=True, places=(),
        points=(1, 1, -4, 1, 1), doublings=(), kicked=False, open_guard=False, revolt=False, options=Options(),
    )  # fmt: skip
    score = score_of(hand)
    assert (score.rule, score.surrendered, [seat.place for seat in score.seats]) == ("DECL-5", True, [None] * 5)
    assert [entry.points for entry in entries_of(score)] == [1, 1, -4, 1, 1]


@pytest.mark.parametrize(("points", "roles_settled"), [(-20, False), (-40, True)])
def test_a_fine_goes_to_the_house(points: int, roles_settled: bool) -> None:  # noqa: FBT001 - a parameter
    """FINE-3, FINE-4: what the player loses, the house has."""
    fine = posted(NUMBER, settling(fined("bo", points, roles_settled=roles_settled)))
    assert isinstance(fine, FinePosted)
    assert entries_of(fine) == (Entry(0, account_of(PlayerId("bo")), points), Entry(1, HOUSE, -points))


@pytest.mark.parametrize(("points", "roles_settled"), [(-40, False), (-20, True), (20, False), (0, True)])
def test_a_fine_of_another_height_is_told_so(points: int, roles_settled: bool) -> None:  # noqa: FBT001 - a parameter
    """FINE-3 leaves no choice: any other fine is not booked."""
    with pytest.raises(Unscorable, match=f"the ruling says {points}"):
        posted(NUMBER, settling(fined("bo", points, roles_settled=roles_settled)))


def test_a_hand_that_was_void_is_scored_as_it_ended(hands: list[HandFinished]) -> None:
    """RULE-1: taken back, the score is that of the hand without, from the reversal alone; it names what it reverses."""
    for hand in (one for one in hands if not one.void):
        score = posted(NUMBER, settling(void_reversed(hand)))
        assert isinstance(score, HandScored)
        assert score.reverses == 8
        assert replace(score, reverses=None) == score_of(hand)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda taken_back: replace(taken_back, points=(8, -2, -2, -2, -2)), "the points are"),
        (lambda taken_back: replace(taken_back, places=()), "are not those of five seats"),
        (lambda taken_back: replace(taken_back, players=()), "five players make a hand"),
        (lambda taken_back: replace(taken_back, emperor=7), "no emperor at seat 7"),
    ],
)
def test_a_reversal_that_does_not_add_up_is_told_so(spoil: Callable[[VoidReversed], VoidReversed], said: str) -> None:
    """As of a hand: what the event's own facts contradict is not scored."""
    with pytest.raises(Unscorable, match=said):
        posted(NUMBER, settling(spoil(void_reversed(a_hand()))))


@pytest.mark.parametrize(("points", "roles_settled"), [(-20, False), (-40, True)])
def test_a_fine_that_is_taken_back_comes_from_the_house(points: int, roles_settled: bool) -> None:  # noqa: FBT001 - a parameter
    """RULE-1: the house gives what it had, so both sum to nothing."""
    fine = fined("bo", points, roles_settled=roles_settled)
    returned = posted(NUMBER, settling(fine_reversed(fine)))
    assert isinstance(returned, FineReturned)
    assert entries_of(returned) == (Entry(0, account_of(PlayerId("bo")), -points), Entry(1, HOUSE, points))
    assert returned.reverses == 8


@pytest.mark.parametrize("points", [0, -20, 30, 400])
def test_more_than_a_fine_does_not_come_back(points: int) -> None:
    """FINE-3 knows two heights."""
    with pytest.raises(Unscorable, match=f"and {points} return"):
        posted(NUMBER, settling(replace(fine_reversed(fined()), points=points)))


def test_a_player_may_be_called_house() -> None:
    """His account is not the house's: the names of accounts say whose they are."""
    account = account_of(PlayerId("house"))
    assert (account, owner_of(account), owner_of(HOUSE)) == ("player:house", "house", None)
    assert account != HOUSE


def test_fines_of_real_play_are_booked() -> None:
    """What tables fine is what FINE-3 says."""
    fines = [event for seed in range(40) for event in settling_events("ourgame-simple", seed, 1)]
    booked = [posted(NUMBER, settling(event)) for event in fines if isinstance(event, PlayerFined)]
    assert booked
