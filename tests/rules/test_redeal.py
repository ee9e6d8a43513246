"""Dealing anew: CROWN-2, CROWN-3, DEAL-1 and FAIR-1 over both deals, from whole decks."""

from hashlib import sha256
from typing import Final

import pytest

from baohuang.rules.deal import dealt, shuffled
from baohuang.rules.events import CardsDealt, CrownYielded, HandFinished, RedealOrdered, SeedCommitted
from baohuang.rules.redact import redact
from baohuang.rules.rulesets import Options
from baohuang.rules.state import Phase
from rules.playing import OPEN_SOLO, TRUSTEE, YIELD, Game, given_deal
from rules.witness import VIEWERS

_NAME: Final = "redeal 22"
"""Seeds of this name deal a hand in which nobody has to take the crown: one in about seventy does."""
_REDEALING: Final = (
    ("homy-classic", Options()),
    ("homy-qingdao", Options()),
    ("ourgame-classic", Options()),
    ("ourgame-simple", Options()),
    ("ourgame-simple", Options(short_deck=True)),
)
redealing = pytest.mark.parametrize(("ruleset", "options"), _REDEALING)


def redealt(ruleset: str, options: Options) -> Game:
    """Return a game whose first deal nobody took the crown of."""
    game = given_deal(ruleset, options=options, name=_NAME)
    while game.hand.deal == 1:
        assert game.hand.turn is not None
        game.when((game.hand.turn, YIELD))
    return game


@redealing
def test_ten_refusals_and_the_cards_are_dealt_anew(ruleset: str, options: Options) -> None:
    """CROWN-2, CROWN-3, DEAL-1: by the same dealer, and the crown is offered again, unpasted."""
    game = redealt(ruleset, options)
    assert len(game.of(CrownYielded)) == 10
    assert game.last(RedealOrdered).rule == ("CROWN-2" if ruleset == "ourgame-simple" else "CROWN-3")
    assert [(deal.deal, deal.dealer) for deal in game.of(CardsDealt)] == [(1, 0), (2, 0)]
    assert game.hand.phase is Phase.CROWN
    assert game.hand.offer is not None
    assert (game.hand.offer.pile, game.hand.offer.refusals) == ((), 0)


@redealing
def test_each_deal_has_a_seed_of_its_own_and_can_be_recomputed(ruleset: str, options: Options) -> None:
    """FAIR-1: each commitment comes before its deal; the seeds come out with the result and give both deals again."""
    game = redealt(ruleset, options)
    assert game.table.seeds[0] != game.table.seeds[1]
    turn = game.hand.turn
    assert turn is not None
    game.when((turn, YIELD if ruleset == "ourgame-simple" else OPEN_SOLO), *((seat, TRUSTEE) for seat in range(5)))
    seeds = game.last(HandFinished).seeds
    committed = [event.commitment for event in game.of(SeedCommitted)]
    assert committed == [sha256(bytes.fromhex(seed)).hexdigest() for seed in seeds]
    for seed, deal in zip(seeds, game.of(CardsDealt), strict=True):
        cards = shuffled(game.table.ruleset.deck, bytes.fromhex(seed), [f"entropy of {seat}" for seat in range(5)])
        assert deal.hidden is not None
        assert tuple(held.cards for held in deal.hidden.hands) == dealt(cards, 0)
    order = [type(event) for event in game.events if isinstance(event, SeedCommitted | CardsDealt | RedealOrdered)]
    assert order == [SeedCommitted, CardsDealt, RedealOrdered, SeedCommitted, CardsDealt]


@redealing
def test_no_seed_is_known_before_the_hand_is_over(ruleset: str, options: Options) -> None:
    """FAIR-1: not even that of the deal nobody wanted; afterwards everybody may have them."""
    game = redealt(ruleset, options)
    for event in game.of(SeedCommitted):
        assert {redact(event, viewer, hand_over=False).hidden for viewer in VIEWERS} == {None}
        assert redact(event, None, hand_over=True) == event
