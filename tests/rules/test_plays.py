"""Sets and what beats what: SET-1, BEAT-1, ROAST-1, HOLD-1."""

from collections import Counter
from itertools import combinations_with_replacement

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baohuang.rules.cards import JOKERS, PLAIN, Card
from baohuang.rules.legal import cards_for, legal_shapes
from baohuang.rules.plays import beats, holds_sixes, shape_of
from rules import brute_force
from rules.playing import cards

_FEW = tuple(map(Card, ("6c", "6s", "7h", "8s", "2d", *JOKERS)))
_ALL_CARDS = st.sampled_from((*PLAIN, *JOKERS * 4))
_hand = st.lists(st.sampled_from(_FEW), max_size=9).map(lambda held: cards(" ".join(held)))


@st.composite
def _sets(draw: st.DrawFn, most: int = 5) -> tuple[Card, ...]:
    rank = draw(st.sampled_from("367J2"))
    plain = draw(st.lists(st.sampled_from([rank + "s", rank + "h"]), max_size=most))
    jokers = draw(st.lists(st.sampled_from(JOKERS), max_size=most, min_size=0 if plain else 1))
    return cards(" ".join((*plain, *jokers)))


@given(st.lists(_ALL_CARDS, max_size=6))
@settings(deadline=None, max_examples=150)
def test_a_set_is_one_rank_and_jokers(held: list[Card]) -> None:
    """SET-1: one rank plus any number of jokers, and at least one card."""
    shape = shape_of(held)
    assert (shape is not None) == brute_force.is_set(held)
    assert shape is None or shape == brute_force.shape(held)


@given(_sets(), _sets())
@settings(deadline=None, max_examples=150)
def test_one_set_beats_another_card_by_card(play: tuple[Card, ...], table: tuple[Card, ...]) -> None:
    """BEAT-1: exactly when, both sorted, every card is strictly higher."""
    mine, theirs = brute_force.shape(play), brute_force.shape(table)
    assert beats(mine, theirs, roast=False) == brute_force.beats_by_sorting(play, table)


def test_beating_card_by_card_for_all_sets_of_up_to_three_cards() -> None:
    """BEAT-1, every pair of small sets, none left to chance."""
    few = [Card(card) for card in ("3s", "9s", "2s", "SJ", "BJ")]
    sets = [play for size in (1, 2, 3) for play in combinations_with_replacement(few, size) if brute_force.is_set(play)]
    for play in sets:
        for table in sets:
            expected = brute_force.beats_by_sorting(play, table)
            assert beats(brute_force.shape(play), brute_force.shape(table), roast=False) == expected, (play, table)


@pytest.mark.parametrize("table", ["BJ", "BJ 2s", "BJ SJ", "BJ* 3s 3s"])
def test_nothing_beats_a_big_joker(table: str) -> None:
    """BEAT-1: a set with a `BJ` cannot be beaten, so no seat has an answer to it."""
    on = brute_force.shape(cards(table))
    assert legal_shapes(cards("BJ BJ BJ SJ SJ SJ SJ 2s 2s 2s 2s"), on, roast=False, hold6=False) == []


@given(_sets(4), _sets(3))
@settings(deadline=None, max_examples=150)
def test_roasting_is_what_a_search_over_all_partitions_finds(play: tuple[Card, ...], table: tuple[Card, ...]) -> None:
    """ROAST-1: groups for each card of the table, all cards used; without a joker there, BEAT-1 alone."""
    mine, theirs = brute_force.shape(play), brute_force.shape(table)
    assert beats(mine, theirs, roast=True) == brute_force.beats(play, table, roast=True)


def test_roasting_for_all_small_sets() -> None:
    """ROAST-1, every table of up to three cards against every play of up to six, none left to chance."""
    few = [Card(card) for card in ("6s", "7s", "SJ", "BJ")]
    sets = {
        size: [play for play in combinations_with_replacement(few, size) if brute_force.is_set(play)]
        for size in range(1, 7)
    }
    for table in (*sets[1], *sets[2], *sets[3]):
        for play in (play for of_size in sets.values() for play in of_size if play.count(Card("BJ")) <= 4):
            expected = brute_force.beats(play, table, roast=True)
            assert beats(brute_force.shape(play), brute_force.shape(table), roast=True) == expected, (play, table)


@pytest.mark.parametrize(
    ("play", "table", "expected"),
    [
        ("BJ BJ", "BJ", True),
        ("SJ SJ SJ", "BJ*", True),
        ("SJ SJ", "SJ", True),
        ("SJ SJ", "BJ", False),
        ("SJ SJ SJ SJ", "BJ", False),
        ("BJ BJ BJ", "BJ", False),
        ("BJ", "SJ", True),
        ("SJ SJ", "2s", False),
        ("SJ SJ SJ 9s", "BJ 8s", True),
        ("SJ SJ SJ 8s", "BJ 8s", False),
        ("SJ SJ SJ SJ", "BJ 8s", True),
    ],
)
def test_roasts_told_one_by_one(play: str, table: str, expected: bool) -> None:  # noqa: FBT001 - the expected value
    """ROAST-1: the four groups, and nothing else."""
    assert beats(brute_force.shape(cards(play)), brute_force.shape(cards(table)), roast=True) is expected


@pytest.mark.parametrize(
    ("play", "held", "breaks"),
    [("6s", 2, True), ("6s", 1, False), ("6s 6h", 2, False), ("6s SJ", 2, True), ("7s", 3, False), ("SJ", 3, False)],
)
def test_sixes_go_last_and_alone(play: str, held: int, breaks: bool) -> None:  # noqa: FBT001 - the expected value
    """HOLD-1: a set with a 6 is legal only as the whole hand, and sixes alone."""
    assert holds_sixes(brute_force.shape(cards(play)), held) is breaks


@given(hand=_hand, table=st.one_of(st.just(()), _sets(3)), roast=st.booleans(), hold6=st.booleans())
@settings(deadline=None, max_examples=150)
def test_legal_plays_are_all_of_them_and_no_others(
    hand: tuple[Card, ...], table: tuple[Card, ...], *, roast: bool, hold6: bool
) -> None:
    """SET-1, BEAT-1, ROAST-1, HOLD-1: the enumeration equals a brute force over all sub-multisets, none twice."""
    shapes = legal_shapes(hand, shape_of(table), roast=roast, hold6=hold6)
    assert len(set(shapes)) == len(shapes)
    assert set(shapes) == brute_force.legal_plays(hand, table, roast=roast, hold6=hold6)


@given(hand=_hand, table=st.one_of(st.just(()), _sets(3)), roast=st.booleans())
@settings(deadline=None, max_examples=150)
def test_the_cards_of_a_legal_shape_are_held_and_make_it(
    hand: tuple[Card, ...], table: tuple[Card, ...], *, roast: bool
) -> None:
    """Each enumerated shape can be played with cards of that hand, equals by TIE-1."""
    for shape in legal_shapes(hand, shape_of(table), roast=roast, hold6=False):
        picked = cards_for(hand, shape)
        assert shape_of(picked) == shape
        assert not Counter(picked) - Counter(hand)
        for strength in set(brute_force.strengths(picked)):
            of_rank = [card for card in hand if brute_force.strengths([card]) == [strength]]
            taken = [card for card in picked if brute_force.strengths([card]) == [strength]]
            assert taken == of_rank[: len(taken)]


def test_a_shape_that_cannot_be_made_is_an_error() -> None:
    """Asking for cards that are not there is the caller's mistake, never a shorter play."""
    with pytest.raises(ValueError, match="cannot make 9 9"):
        cards_for(cards("9s 8s"), brute_force.shape(cards("9s 9h")))


def test_shapes_are_written_big_jokers_small_jokers_plain() -> None:
    """The notation of the `legal` cases."""
    assert str(brute_force.shape(cards("7s SJ* 7h BJ"))) == "BJ SJ 7 7"
