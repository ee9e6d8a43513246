"""Cards: DECK-1, DECK-3, TIE-1."""

import pytest

from baohuang.rules.cards import (
    HIDDEN,
    JOKERS,
    PLAIN,
    STRENGTH,
    Card,
    UnknownCardError,
    highest,
    holds,
    identical,
    in_order,
    parse_card,
    parse_cards,
    unmarked,
    without,
)
from rules.playing import cards


def test_ranks_run_from_3_to_the_big_joker() -> None:
    """DECK-1: low to high `3 4 5 6 7 8 9 T J Q K A 2 SJ BJ`."""
    ranks = ["3s", "4s", "5s", "6s", "7s", "8s", "9s", "Ts", "Js", "Qs", "Ks", "As", "2s", "SJ", "BJ"]
    assert [STRENGTH[Card(card)] for card in ranks] == list(range(15))


def test_marked_jokers_equal_the_unmarked() -> None:
    """DECK-3: in play the crown card and the sword card are jokers like others."""
    assert STRENGTH[Card("BJ*")] == STRENGTH[Card("BJ")] > STRENGTH[Card("SJ*")] == STRENGTH[Card("SJ")]
    assert [unmarked(card) for card in JOKERS] == ["SJ", "SJ", "BJ", "BJ"]


def test_suits_have_no_strength() -> None:
    """BEAT-1: suits never count."""
    assert len(PLAIN) == 52
    assert all(STRENGTH[card] == STRENGTH[Card(card[0] + "s")] for card in PLAIN)


@pytest.mark.parametrize("text", ["", "1s", "9x", "10s", "sj", "BJ**", "9S", "9", "s9", "??", "9s 9s", " 9s"])
def test_what_is_no_card_is_refused(text: str) -> None:
    """Only the notation is read; the placeholder of masked states is no card."""
    with pytest.raises(UnknownCardError, match="is not a card"):
        parse_card(text)


def test_cards_are_read_in_the_order_given() -> None:
    """Blanks separate, however many; nothing at all is no cards."""
    assert parse_cards("  BJ*  3s 3s ") == ("BJ*", "3s", "3s")
    assert parse_cards("") == ()


def test_equals_are_ordered_unmarked_first_then_clubs_diamonds_hearts_spades() -> None:
    """TIE-1: unmarked comes before marked, then c, d, h, s."""
    assert in_order(parse_cards("BJ* BJ SJ* SJ 2s 2h 2d 2c 3s")) == parse_cards("3s 2c 2d 2h 2s SJ SJ* BJ BJ*")


def test_highest_takes_the_first_of_equals() -> None:
    """TIE-1: among the highest, unmarked and clubs first."""
    assert highest(cards("2s 2h As")) == "2h"
    assert highest(cards("BJ* BJ 2c")) == "BJ"
    assert highest(()) is None


def test_a_hand_is_a_multiset() -> None:
    """Two copies are held only by who holds two."""
    assert holds(cards("9s 9s 8h"), cards("9s 9s"))
    assert not holds(cards("9s 9h 8h"), cards("9s 9s"))
    assert holds((), ())


def test_cards_leave_a_hand_one_copy_at_a_time() -> None:
    """What is gone is gone once; a masked hand loses as many; what is not there cannot leave."""
    assert without(cards("9s 9s 8h"), cards("9s")) == cards("8h 9s")
    assert without((HIDDEN, HIDDEN), cards("9s")) == (HIDDEN,)
    with pytest.raises(ValueError, match="not in list"):
        without(cards("9s"), cards("9s 9s"))


def test_identical_counts_exactly_and_knows_no_jokers() -> None:
    """CROWN-3: same suit and rank, no jokers; four are not three."""
    hand = cards("9s 9s 9s 8h 8h 8h 8h 7c 7d 7h SJ SJ SJ 3d 3d 3d")
    assert identical(hand, 3) == cards("3d 9s")
    assert identical(hand, 4) == cards("8h")
