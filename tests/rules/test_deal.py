"""The deck and the deal: DECK-1..3, DEAL-1, FAIR-1. The shuffle is computed a second time, from its description."""

from collections import Counter
from hashlib import sha256
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baohuang.rules import commands as cmd
from baohuang.rules import deal
from baohuang.rules.cards import Card, in_order
from baohuang.rules.deal import cards_of, commitment_to, dealt, shuffled
from baohuang.rules.events import CardsDealt, HandStarted
from baohuang.rules.refusals import Refusal
from baohuang.rules.rulesets import RULESETS, Deck
from rules.playing import PLAYERS, RULESET_NAMES, given_deal, given_table

_RANKS: Final = "3456789TJQKA2"
_JOKERS: Final = Counter({"BJ": 3, "SJ": 3, "BJ*": 1, "SJ*": 1})


def _deck_told(ranks: str, without: dict[str, int]) -> Counter[str]:
    suited = Counter({rank + suit: 4 for rank in ranks for suit in "shdc"})
    return suited - Counter(without) + _JOKERS


def _shuffle_described(deck: list[str], seed: bytes, entropy: list[str]) -> list[str]:
    """Follow the four steps of the documentation, with one long byte string for the stream of words."""
    prefix = b"".join(len(e.encode()).to_bytes(4, "big") + e.encode() for e in entropy)
    key = sha256(b"baohuang/deal/v1" + b"\x00" + seed + prefix).digest()
    stream = b"".join(sha256(key + n.to_bytes(8, "big")).digest() for n in range(60))
    at = 0
    for i in reversed(range(1, len(deck))):
        while True:
            word, at = int.from_bytes(stream[at : at + 4], "big"), at + 4
            if word < 2**32 // (i + 1) * (i + 1):
                break
        deck[i], deck[word % (i + 1)] = deck[word % (i + 1)], deck[i]
    return deck


def _decks_in_order() -> dict[Deck, list[str]]:
    decks = {}
    for deck, ranks in ((Deck.FULL, _RANKS), (Deck.SHORT, _RANKS[3:]), (Deck.WEIHAI, _RANKS[3:])):
        cards = [rank + suit for rank in ranks for suit in "cdhs" for _ in range(4)]
        if deck is Deck.WEIHAI:
            cards = ["6c"] * 4 + ["6d"] + cards[8:]
        decks[deck] = [*cards, "SJ", "SJ", "SJ", "SJ*", "BJ", "BJ", "BJ", "BJ*"]
    return decks


@pytest.mark.parametrize(
    ("deck", "size", "told"),
    [
        (Deck.FULL, 216, _deck_told(_RANKS, {})),
        (Deck.SHORT, 168, _deck_told(_RANKS[3:], {})),
        (Deck.WEIHAI, 165, _deck_told(_RANKS[3:], {"6d": 3})),
    ],
)
def test_decks(deck: Deck, size: int, told: Counter[str]) -> None:
    """DECK-1, DECK-2, DECK-3: which cards, and one crown and one sword card among the jokers."""
    cards = cards_of(deck)
    assert len(cards) == size
    assert Counter(cards) == told
    assert list(cards) == _decks_in_order()[deck]


def test_each_ruleset_has_its_deck() -> None:
    """Section 1, the row `deck`."""
    decks = {name: ruleset.deck for name, ruleset in RULESETS.items()}
    assert decks.pop(RULESETS["homy-weihai"].id) is Deck.WEIHAI  # type: ignore[index] # the name as a text
    assert set(decks.values()) == {Deck.FULL}


@given(
    st.sampled_from(Deck), st.binary(min_size=32, max_size=32), st.lists(st.text(max_size=16), min_size=5, max_size=5)
)
@settings(deadline=None, max_examples=60)
def test_the_shuffle_is_the_one_described(deck: Deck, seed: bytes, entropy: list[str]) -> None:
    """FAIR-1: an implementation from the description alone gives the same order."""
    assert list(shuffled(deck, seed, entropy)) == _shuffle_described(_decks_in_order()[deck], seed, entropy)


@pytest.mark.parametrize(
    ("bound", "words", "drawn"),
    [(3, (2**32 - 1, 5), 2), (3, (2**32 - 2,), 2), (216, (2**32 - 1, 2**32 - 64, 217), 1), (2, (2**32 - 1,), 1)],
)
def test_words_that_would_favour_some_cards_are_passed_over(bound: int, words: tuple[int, ...], drawn: int) -> None:
    """FAIR-1, step 3: a word is taken only below the largest multiple of the bound; so rare that no deal shows it."""
    left = iter(words)
    assert deal._below(bound, left) == drawn
    assert list(left) == []


def test_golden_vector() -> None:
    """FAIR-1: this deal is published; a change here breaks everybody who recomputes deals."""
    cards = shuffled(Deck.FULL, bytes(range(32)), ["a", "", "保皇", "d", "0123456789"])
    assert cards[:12] == ("9c", "4h", "8s", "Jc", "Ks", "As", "3d", "9d", "Qh", "Qc", "6s", "7c")
    assert (
        sha256(" ".join(cards).encode()).hexdigest()
        == "0d307f7140f5e867e4d681ccf411fabfef34c18e0642ac1f84434d01c8e5ae1f"
    )
    assert commitment_to(bytes(range(32))) == "630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd"


def test_entropy_cannot_be_moved_from_one_player_to_another() -> None:
    """FAIR-1: lengths are hashed too, so that two different contributions never mean the same."""
    first = shuffled(Deck.FULL, bytes(32), ["ab", "", "", "", ""])
    assert shuffled(Deck.FULL, bytes(32), ["a", "b", "", "", ""]) != first
    assert shuffled(Deck.FULL, bytes(32), ["", "ab", "", "", ""]) != first


@pytest.mark.parametrize("dealer", range(5))
@pytest.mark.parametrize(
    ("deck", "sizes"),
    [(Deck.FULL, [44, 43, 43, 43, 43]), (Deck.SHORT, [34, 34, 34, 33, 33]), (Deck.WEIHAI, [33] * 5)],
)
def test_cards_go_one_at_a_time_from_the_dealer_on(deck: Deck, sizes: list[int], dealer: int) -> None:
    """DEAL-1: in order of play from the dealer; extra cards fall to the first seats."""
    cards = shuffled(deck, bytes([dealer] * 32), [""] * 5)
    piles: list[list[Card]] = [[] for _ in range(5)]
    for index, card in enumerate(cards):
        piles[(dealer + index) % 5].append(card)
    hands = dealt(cards, dealer)
    assert hands == tuple(in_order(pile) for pile in piles)
    assert [len(hands[(dealer + step) % 5]) for step in range(5)] == sizes


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_the_first_hand_is_dealt_from_seat_0_by_the_committed_seed_and_all_entropy(ruleset: str) -> None:
    """DEAL-1, FAIR-1: anyone recomputes the deal from the seed, which was committed to before anyone was ready."""
    game = given_deal(ruleset)
    commitment = game.last(HandStarted).commitment
    dealing = game.last(CardsDealt)
    (seed,) = game.table.seeds
    assert sha256(bytes.fromhex(seed)).hexdigest() == commitment
    deck = _decks_in_order()[RULESETS[game.table.ruleset.id].deck]
    order = _shuffle_described(deck, bytes.fromhex(seed), [f"entropy of {seat}" for seat in range(5)])
    assert dealing.dealer == 0
    assert dealing.hidden is not None
    for held in dealing.hidden.hands:
        assert sorted(held.cards) == sorted(order[held.seat :: 5])
    assert dealing.sizes == tuple(len(order[seat::5]) for seat in range(5))


def test_entropy_is_bounded_in_bytes() -> None:
    """FAIR-1: 64 bytes of entropy are taken, 65 are refused, whatever they are in characters."""
    game = given_table("homy-standard")
    assert game.refused(0, cmd.SetReady(ready=True, entropy="a" * 65)) is Refusal.ENTROPY_TOO_LONG
    assert game.refused(0, cmd.SetReady(ready=True, entropy="保" * 22)) is Refusal.ENTROPY_TOO_LONG
    game.act(PLAYERS[0], cmd.SetReady(ready=True, entropy="a" * 64))
    game.act(PLAYERS[0], cmd.SetReady(ready=False, entropy="never mind"))
    assert game.table.seats[0].entropy == ""
