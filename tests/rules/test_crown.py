"""The crown: CROWN-1 to CROWN-5 and the default answers there. The holder is seat 0, so the offer goes 0 4 3 2 1."""

import pytest

from baohuang.rules import commands as cmd
from baohuang.rules.cards import CROWN
from baohuang.rules.events import CrownYielded, EmperorEnthroned, RedealOrdered
from baohuang.rules.refusals import Refusal
from baohuang.rules.settlement import Solo
from baohuang.rules.state import Phase
from rules.playing import (
    CALLED_RULESETS,
    ENTHRONE,
    OPEN_SOLO,
    PASS,
    RULESET_NAMES,
    SWORD_RULESETS,
    YIELD,
    Game,
    cards,
    given,
)

PLAIN_HANDS = ("BJ* 3s", "4s", "SJ* 5s", "6s", "7s")
UPSTREAM = (0, 4, 3, 2, 1)


def yields(game: Game, *seats: int) -> Game:
    """Let the seats refuse the crown, one after the other."""
    return game.when(*((seat, YIELD) for seat in seats))


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_the_crown_goes_upstream(ruleset: str) -> None:
    """CROWN-1: the holder of `BJ*` is asked first, then his previous seat, and so on."""
    game = given(ruleset, *PLAIN_HANDS)
    for seat in UPSTREAM:
        assert (game.hand.phase, game.hand.turn) == (Phase.CROWN, seat)
        assert game.refused((seat + 1) % 5, YIELD) is Refusal.NOT_YOUR_TURN
        assert game.refused(seat, PASS) is Refusal.WRONG_PHASE
        yields(game, seat)


@pytest.mark.parametrize("ruleset", SWORD_RULESETS)
@pytest.mark.parametrize("refusals", range(5))
def test_whoever_accepts_is_emperor_and_holds_the_crown(ruleset: str, refusals: int) -> None:
    """CROWN-1, CROWN-5: with a sword card anybody may accept, and `BJ*` ends in the emperor's hand."""
    game = yields(given(ruleset, *PLAIN_HANDS), *UPSTREAM[:refusals])
    seat = UPSTREAM[refusals]
    game.when((seat, ENTHRONE))
    assert game.hand.roles.emperor == seat
    assert [CROWN in hand for hand in game.hand.hands] == [other == seat for other in range(5)]


@pytest.mark.parametrize("ruleset", SWORD_RULESETS)
def test_no_open_solo_at_the_crown_with_a_sword_card(ruleset: str) -> None:
    """CROWN-3 gives that choice to called-card rulesets alone."""
    assert given(ruleset, *PLAIN_HANDS).refused(0, OPEN_SOLO) is Refusal.NOT_ELIGIBLE


@pytest.mark.parametrize("ruleset", ["homy-standard", "homy-weihai"])
def test_after_one_lap_the_first_holder_must(ruleset: str) -> None:
    """CROWN-4: after five refusals the original holder is emperor."""
    game = yields(given(ruleset, *PLAIN_HANDS), *UPSTREAM)
    crowned = game.last(EmperorEnthroned)
    assert (crowned.seat, crowned.rule, crowned.forced) == (0, "CROWN-4", True)
    assert game.hand.hands[0] == cards("BJ* 3s")


def pasting_game() -> Game:
    """Return a game in which some have a 2 to paste, some none, and two run out of cards to paste."""
    return given("ourgame-simple", "BJ* 9s", "Ts Th", "SJ* 8s", "3d SJ", "2s 2c 5c")


def test_each_later_refusal_pastes_a_2_or_the_highest_card_that_is_no_joker() -> None:
    """CROWN-2, TIE-1: the first gives the crown alone, the others one card each while they have one, the tenth none."""
    game = yields(pasting_game(), *UPSTREAM, *UPSTREAM)
    pasted = [event.hidden.card if event.hidden else None for event in game.of(CrownYielded)]
    assert pasted == [None, "2c", "3d", "8s", "Th", "9s", "2s", None, None, None]
    assert [event.pasted for event in game.of(CrownYielded)] == [card is not None for card in pasted]
    assert game.last(RedealOrdered).rule == "CROWN-2"


def test_a_redeal_is_dealt_by_the_same_dealer() -> None:
    """CROWN-2, DEAL-1: two laps without an emperor: the whole deck anew, the dealer kept, the crown offered again."""
    game = yields(pasting_game(), *UPSTREAM, *UPSTREAM)
    assert game.hand.deal == 2
    assert game.hand.dealer == 0
    assert sum(map(len, game.hand.hands)) == 215
    assert game.hand.phase is Phase.CROWN
    assert game.hand.offer is not None
    assert game.hand.offer.pile == ()


def test_who_accepts_keeps_the_pile() -> None:
    """CROWN-2: the whole pile moves on, and is the emperor's."""
    game = yields(pasting_game(), *UPSTREAM, 0)
    game.when((4, ENTHRONE))
    assert game.hand.hands == (cards(""), cards("Ts"), cards("SJ*"), cards("SJ"), cards("2s 5c BJ* 2c 3d 8s Th 9s"))
    assert game.last(EmperorEnthroned).pile == 6


@pytest.mark.parametrize("ruleset", CALLED_RULESETS)
@pytest.mark.parametrize(
    ("own", "able"),
    [
        ("9s 9s 9s", True),
        ("9s 9s 9s 9s", True),
        ("9s 9s 9h 9h", False),
        ("9s 9s", False),
        ("BJ BJ BJ SJ SJ SJ", False),
    ],
)
def test_to_be_emperor_one_must_be_able_to_call(ruleset: str, own: str, able: bool) -> None:  # noqa: FBT001 - expected
    """CROWN-3: able = three or four identical cards, same suit and rank, no jokers."""
    game = given(ruleset, f"BJ* {own}", "4s", "5s", "6s", "7s")
    if able:
        assert game.when((0, ENTHRONE)).hand.roles.emperor == 0
    else:
        assert game.refused(0, ENTHRONE) is Refusal.CANNOT_CALL


@pytest.mark.parametrize("ruleset", CALLED_RULESETS)
@pytest.mark.parametrize("refusals", [0, 3, 7])
def test_open_solo_takes_the_crown_without_being_able(ruleset: str, refusals: int) -> None:
    """CROWN-3: in lap 1 and, where a seat is asked again, in the sweep; it is public at once."""
    game = yields(given(ruleset, *PLAIN_HANDS), *(UPSTREAM * 2)[:refusals])
    seat = UPSTREAM[refusals % 5]
    game.when((seat, OPEN_SOLO))
    roles = game.hand.roles
    assert (roles.emperor, roles.guard, roles.solo, roles.public_solo) == (seat, None, Solo.OPEN, True)
    assert game.hand.phase is (Phase.KICK if ruleset.startswith("homy") else Phase.PLAY)


SWEPT = ("BJ* 8h 8h 8h 8h 4c 4c 4c", "9s 9s 9s", "Ts Ts Ts", "3s", "5d 5d 5d 5d")


@pytest.mark.parametrize("ruleset", CALLED_RULESETS)
def test_the_sweep_forces_the_first_with_an_exact_triple_and_no_four(ruleset: str) -> None:
    """CROWN-3: who holds four of some card, or nothing, is asked again; the first who must, is emperor unasked."""
    game = yields(given(ruleset, *SWEPT), *UPSTREAM)
    assert game.hand.turn == 0
    yields(game, 0)
    assert game.hand.turn == 4
    yields(game, 4)
    assert game.hand.turn == 3
    yields(game, 3)
    crowned = game.last(EmperorEnthroned)
    assert (crowned.seat, crowned.rule, crowned.forced) == (2, "CROWN-3", True)
    assert len(game.of(CrownYielded)) == 8
    assert CROWN in game.hand.hands[2]


@pytest.mark.parametrize("ruleset", CALLED_RULESETS)
def test_the_sweep_begins_with_the_first_holder(ruleset: str) -> None:
    """CROWN-3: same order; a holder who must, is emperor as soon as the fifth has refused."""
    game = yields(given(ruleset, "BJ* 3s 3s 3s", *SWEPT[1:]), *UPSTREAM)
    assert (game.last(EmperorEnthroned).seat, game.last(EmperorEnthroned).forced) == (0, True)


@pytest.mark.parametrize("ruleset", CALLED_RULESETS)
def test_a_seat_with_four_may_accept_in_the_sweep(ruleset: str) -> None:
    """CROWN-3: asked as in lap 1."""
    game = yields(given(ruleset, *SWEPT), *UPSTREAM, 0)
    assert game.refused(4, cmd.CallCard(cards("5d")[0])) is Refusal.WRONG_PHASE
    assert game.when((4, ENTHRONE)).hand.roles.emperor == 4
    assert not game.last(EmperorEnthroned).forced


@pytest.mark.parametrize("ruleset", CALLED_RULESETS)
def test_nobody_in_the_sweep_is_a_redeal(ruleset: str) -> None:
    """CROWN-3: nothing was pasted, and the cards are dealt anew."""
    game = yields(given(ruleset, *PLAIN_HANDS), *UPSTREAM, *UPSTREAM)
    assert game.last(RedealOrdered).rule == "CROWN-3"
    assert not any(event.pasted for event in game.of(CrownYielded))
    assert game.hand.deal == 2


@pytest.mark.parametrize("ruleset", SWORD_RULESETS)
def test_the_holder_of_both_marks_may_yield_and_is_guard(ruleset: str) -> None:
    """CROWN-5: the sword card makes him guard; keeping the crown, he would be a hidden solo."""
    hands = ("BJ* SJ* 3s", "4s", "5s", "6s", "7s")
    yielded = yields(given(ruleset, *hands), 0).when((4, ENTHRONE)).hand.roles
    assert (yielded.emperor, yielded.guard, yielded.solo) == (4, 0, None)
    kept = given(ruleset, *hands).when((0, ENTHRONE)).hand.roles
    assert (kept.emperor, kept.guard, kept.solo, kept.public_solo) == (0, None, Solo.HIDDEN, False)


@pytest.mark.parametrize("ruleset", SWORD_RULESETS)
def test_time_out_at_the_crown_enthrones(ruleset: str) -> None:
    """Section 3, default answers: in CROWN enthrone."""
    game = given(ruleset, *PLAIN_HANDS).when((0, cmd.ExpireTurn(0)))
    assert game.hand.roles.emperor == 0
    assert game.last(EmperorEnthroned).automatic


@pytest.mark.parametrize("ruleset", CALLED_RULESETS)
@pytest.mark.parametrize(("own", "accepts"), [("9s 9s 9s", True), ("9s 9s 9s 9s", False), ("9s", False)])
def test_time_out_at_the_crown_where_a_card_is_called(ruleset: str, own: str, accepts: bool) -> None:  # noqa: FBT001
    """Section 3, default answers: enthrone only with an exact triple, else yield."""
    game = given(ruleset, f"BJ* {own}", "4s", "5s", "6s", "7s").when((0, cmd.ExpireTurn(0)))
    assert (game.hand.roles.emperor == 0) is accepts
    assert (game.hand.turn == 4) is not accepts
