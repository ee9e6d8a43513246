"""Typed cards: ranks alone, jokers, exact cards, and what is refused."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baohuang.rules.cards import JOKERS, PLAIN, RANKS, Card, holds, in_order, parse_cards
from baohuang.rules.legal import cards_for, legal_shapes
from command_line.play.card_words import UnreadableError, picked, word_for

HELD = in_order(parse_cards("3c 3h 9c 9d 9h Tc Th Qs Kd Ac As 2c 2s SJ SJ SJ* BJ BJ*"))


@pytest.mark.parametrize(
    ("typed", "cards"),
    [
        ("99", "9c 9d"),
        ("9 9", "9c 9d"),
        ("9,9", "9c 9d"),
        ("9 9 s", "9c 9d SJ"),
        ("99 sj", "9c 9d SJ"),
        ("99sj", "9c 9d SJ"),
        ("9sj", "9c SJ"),
        ("99b", "9c 9d BJ"),
        ("A A BJ", "Ac As BJ"),
        ("aabj", "Ac As BJ"),
        ("bb", "BJ BJ*"),
        ("sss", "SJ SJ SJ*"),
        ("s b", "SJ BJ"),
        ("BJ*", "BJ*"),
        ("b*", "BJ*"),
        ("sj* s", "SJ* SJ"),
        ("10", "Tc"),
        ("1010", "Tc Th"),
        ("T", "Tc"),
        ("tt", "Tc Th"),
        ("10h", "Th"),
        ("9h", "9h"),
        ("9h9d", "9h 9d"),
        ("9h 9", "9h 9c"),
        ("9h 9 9", "9h 9c 9d"),
        ("Q", "Qs"),
        ("qs", "Qs"),
        ("k", "Kd"),
        ("2 2", "2c 2s"),
        ("8*", None),
        ("8", None),
        ("9999", None),
        ("ssss", None),
        ("9s", None),
        ("99s", None),
        ("9ss", None),
        ("1", None),
        ("x", None),
        ("9x", None),
        ("??", None),
        ("*", None),
        ("b* b*", None),
        ("九", None),
    ],
)
def test_words_and_the_cards_they_mean(typed: str, cards: str | None) -> None:
    """Suits and marks need not be typed: equals by TIE-1; what is not held or not clear is refused."""
    if cards is None:
        with pytest.raises(UnreadableError):
            picked(typed, HELD)
    else:
        assert sorted(picked(typed, HELD)) == sorted(parse_cards(cards))


@pytest.mark.parametrize(
    ("typed", "message", "rule"),
    [
        ("8", "you hold 0 of 8, not 1", "SET-1"),
        ("ssss", "you hold 3 of SJ, not 4", "SET-1"),
        ("9s", "you do not hold 9s", "SET-1"),
        ("99s", "'99s' may mean spades or a small joker: set jokers apart, as in `9 9 s`", ""),
        ("foo", "'foo' is no card: 3 to 9, 10 or T, J Q K A 2, s and b for the jokers", ""),
    ],
)
def test_the_message_names_what_is_wrong(typed: str, message: str, rule: str) -> None:
    """The word, or the rank that is missing and how many there are."""
    with pytest.raises(UnreadableError) as wrong:
        picked(typed, HELD)
    assert (wrong.value.message, wrong.value.rule) == (message, rule)


hands = st.lists(st.sampled_from(PLAIN + JOKERS), min_size=1, max_size=20).map(in_order)


@given(hands)
def test_every_listed_play_can_be_typed(held: tuple[Card, ...]) -> None:
    """The word for a legal lead gives the very cards that the rules would pick for it."""
    for shape in legal_shapes(held, None, roast=False, hold6=False):
        assert sorted(picked(word_for(shape), held)) == sorted(cards_for(held, shape))


@given(hands, st.data())
def test_exact_cards_are_those_cards(held: tuple[Card, ...], data: st.DataObject) -> None:
    """Plain cards typed in notation are these cards and no equals of theirs."""
    plain = [card for card in held if card[0] in RANKS]
    chosen = data.draw(st.lists(st.sampled_from(plain), max_size=3)) if plain else []
    if holds(held, chosen):
        assert picked(" ".join(chosen), held) == tuple(chosen)
    else:
        with pytest.raises(UnreadableError, match="you do not hold"):
            picked(" ".join(chosen), held)


@given(st.text(max_size=12) | st.text(alphabet="3456789TJQKA210sbhdcSB* ,", max_size=12), hands)
def test_no_text_is_too_strange(text: str, held: tuple[Card, ...]) -> None:
    """Whatever is typed, it is cards of the hand or refused."""
    with suppress(UnreadableError):
        assert holds(held, picked(text, held))
