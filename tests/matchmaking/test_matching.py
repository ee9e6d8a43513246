from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baohuang.rules.state import PlayerId
from matchmaking_service.matching import (
    ANYBODY_AFTER_SECONDS,
    WINDOW_AT_FIRST,
    Candidate,
    Match,
    PartyId,
    Queue,
    matches_among,
    window,
)

QUEUES = (Queue("homy-standard", "{}"), Queue("ourgame-simple", "{}"), Queue("ourgame-simple", '{"seize": true}'))
FILL_AFTER = 20.0


def party(
    name: str, size: int = 1, rating: float = 25.0, waited: float = 0.0, queue: Queue = QUEUES[0], *, bots: bool = False
) -> Candidate:
    """Return a party whose players are named after it."""
    players = tuple(PlayerId(f"{name}-{number}") for number in range(size))
    return Candidate(PartyId(name), queue, players, rating, waited, bots)


@st.composite
def crowds(draw: st.DrawFn) -> Sequence[Candidate]:
    """Draw parties that wait, in queues of which the last has bots."""
    some = draw(
        st.lists(st.tuples(st.integers(1, 5), st.floats(0, 50), st.floats(0, 80), st.integers(0, 2)), max_size=12)
    )
    return [
        party(f"p{number}", size, rating, waited, QUEUES[queue], bots=queue == 2)
        for number, (size, rating, waited, queue) in enumerate(some)
    ]


def names(matches: Sequence[Match]) -> list[list[str]]:
    """Return the parties' names, match by match."""
    return [[one.party_id for one in match.parties] for match in matches]


@given(crowds())
def test_five_players_each_once_and_parties_whole(crowd: Sequence[Candidate]) -> None:
    """People and bots are five; nobody is in two matches; parties are those that came, of the match's own queue."""
    matches = matches_among(crowd, FILL_AFTER)
    matched = [one for match in matches for one in match.parties]
    assert len({one.party_id for one in matched}) == len(matched)
    assert set(matched) <= set(crowd)
    for match in matches:
        assert len(match.players) + match.bots == 5
        assert {one.queue for one in match.parties} == {match.queue}


@given(crowds())
def test_ratings_are_within_the_window_of_who_waited_longest(crowd: Sequence[Candidate]) -> None:
    """The first of a match waited longest, and all others are as near as his waiting asks for."""
    for match in matches_among(crowd, FILL_AFTER):
        first = match.parties[0]
        for one in match.parties:
            assert one.waited <= first.waited
            assert abs(one.rating - first.rating) <= window(first.waited)


@given(crowds())
def test_who_waited_longest_is_matched_if_he_can_be(crowd: Sequence[Candidate]) -> None:
    """The party that waited longest in its queue is left only if no parties within its window make five with it."""
    matched = {one.party_id for match in matches_among(crowd) for one in match.parties}
    for queue in QUEUES:
        waiting = sorted((one for one in crowd if one.queue == queue), key=lambda one: (-one.waited, one.party_id))
        if not waiting:
            continue
        first, *others = waiting
        near = [one for one in others if abs(one.rating - first.rating) <= window(first.waited)]
        possible = any(
            first.size + sum(one.size for one in some) == 5
            for number in range(5)
            for some in combinations(near, number)
        )
        assert (first.party_id in matched) == possible


@given(crowds(), st.randoms(use_true_random=False))
def test_the_order_in_which_they_come_decides_nothing(crowd: Sequence[Candidate], random: object) -> None:
    """The same parties give the same matches."""
    shuffled = list(crowd)
    random.shuffle(shuffled)  # type: ignore[attr-defined] # random.Random
    assert matches_among(shuffled, FILL_AFTER) == matches_among(crowd, FILL_AFTER)


@given(crowds())
def test_bots_only_where_they_are_allowed_and_after_the_wait(crowd: Sequence[Candidate]) -> None:
    """A match with bots is of parties that allow them, and its first waited for people long enough."""
    for match in matches_among(crowd, FILL_AFTER):
        assert not match.bots or (match.parties[0].bots and match.parties[0].waited >= FILL_AFTER)
    assert not any(match.bots for match in matches_among(crowd))


def test_those_who_waited_longest_are_taken_of_the_many() -> None:
    """Six alone: the one who came last is left."""
    crowd = [party(name, waited=waited) for name, waited in zip("abcdef", (1, 6, 3, 5, 2, 4), strict=True)]
    assert names(matches_among(crowd)) == [["b", "d", "f", "c", "e"]]


def test_a_party_that_does_not_fit_is_passed_over() -> None:
    """Three and three do not make five; three, one and one do."""
    crowd = [party("a", 3, waited=9), party("b", 3, waited=8), party("c", waited=7), party("d", waited=6)]
    assert names(matches_among(crowd)) == [["a", "c", "d"]]


def test_who_cannot_be_matched_keeps_nobody_back() -> None:
    """A party of four without a fifth near it waits; five others play."""
    crowd = [party("four", 4, rating=50, waited=30), *(party(name) for name in "abcde")]
    assert names(matches_among(crowd)) == [["a", "b", "c", "d", "e"]]


@pytest.mark.parametrize(("waited", "far"), [(0.0, WINDOW_AT_FIRST), (8.0, WINDOW_AT_FIRST + 2.0)])
def test_the_window_widens(waited: float, far: float) -> None:
    """Just within it they are matched, just beyond not yet."""
    for away, matched in ((far, True), (far + 0.01, False)):
        crowd = [party("a", waited=waited), party("b", 4, rating=25.0 + away)]
        assert bool(matches_among(crowd)) is matched


def test_after_a_minute_with_anybody() -> None:
    """However far apart they are."""
    crowd = [party("a", waited=ANYBODY_AFTER_SECONDS), party("b", 4, rating=1000.0)]
    assert names(matches_among(crowd)) == [["a", "b"]]


def test_bots_take_no_more_seats_than_are_left() -> None:
    """People who are there come first, and a full party needs none."""
    crowd = [party("a", 2, waited=FILL_AFTER, bots=True), party("b", bots=True)]
    (match,) = matches_among(crowd, FILL_AFTER)
    assert (names([match]), match.bots) == ([["a", "b"]], 2)
    assert not matches_among([party("a", 2, waited=FILL_AFTER - 1, bots=True)], FILL_AFTER)
