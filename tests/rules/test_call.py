"""Calling a card: CALL-1, CALL-2 and the default call."""

import pytest

from baohuang.rules import commands as cmd
from baohuang.rules.events import CardCalled
from baohuang.rules.redact import redact
from baohuang.rules.refusals import Refusal
from baohuang.rules.settlement import Solo
from baohuang.rules.state import Phase
from rules.playing import CALLED_RULESETS, ENTHRONE, NOTHING, OPEN_SOLO, Game, call, given, play

EMPEROR = "BJ* 9s 9s 9s 8h 8h 8h 8h 3c 3c SJ SJ SJ"


def calling(ruleset: str, own: str = EMPEROR, third: str = "9s Ks") -> Game:
    """Return a game with emperor 0 asked to call; seat 3 holds what `third` says."""
    return given(ruleset, own, "Ts", "SJ* Js", third, "Qs").when((0, ENTHRONE)).quiet()


@pytest.mark.parametrize("ruleset", CALLED_RULESETS)
def test_three_held_make_the_holder_of_the_fourth_guard(ruleset: str) -> None:
    """CALL-1: the guard is hidden, the card public."""
    game = calling(ruleset)
    assert (game.hand.phase, game.hand.turn) == (Phase.CALL, 0)
    roles = game.when((0, call("9s"))).hand.roles
    assert (roles.guard, roles.public_guard, roles.solo, roles.called, roles.settled) == (3, None, None, "9s", True)
    assert game.hand.phase is Phase.DECLARE


@pytest.mark.parametrize("ruleset", CALLED_RULESETS)
def test_four_held_make_a_hidden_solo(ruleset: str) -> None:
    """CALL-1: calling a card of which he holds all four."""
    roles = calling(ruleset).when((0, call("8h"))).hand.roles
    assert (roles.guard, roles.solo, roles.public_solo, roles.settled) == (None, Solo.HIDDEN, False, True)


@pytest.mark.parametrize("ruleset", CALLED_RULESETS)
@pytest.mark.parametrize("card", ["3c", "9h", "SJ", "BJ*", "Ks"])
def test_no_other_card_can_be_called(ruleset: str, card: str) -> None:
    """CALL-1: two copies, none, jokers and others' cards are refused."""
    assert calling(ruleset).refused(0, call(card)) is Refusal.CANNOT_CALL


@pytest.mark.parametrize("ruleset", CALLED_RULESETS)
def test_only_the_emperor_calls(ruleset: str) -> None:
    """CALL-1: one seat is asked."""
    game = calling(ruleset)
    assert game.refused(3, call("9s")) is Refusal.NOT_YOUR_TURN
    assert game.refused(0, NOTHING) is Refusal.WRONG_PHASE


@pytest.mark.parametrize("ruleset", CALLED_RULESETS)
def test_open_solo_instead_of_a_call(ruleset: str) -> None:
    """CALL-1: public at once, so DECLARE is skipped; KICK remains where there is one."""
    game = calling(ruleset).when((0, OPEN_SOLO))
    roles = game.hand.roles
    assert (roles.solo, roles.public_solo, roles.guard, roles.settled) == (Solo.OPEN, True, None, True)
    assert game.hand.phase is (Phase.KICK if ruleset.startswith("homy") else Phase.PLAY)


@pytest.mark.parametrize("ruleset", CALLED_RULESETS)
def test_the_announcement_is_the_same_for_a_guard_and_a_hidden_solo(ruleset: str) -> None:
    """CALL-1: what the public and the other seats see differs in nothing, and neither does what is asked next."""
    guarded = calling(ruleset, "BJ* 9s 9s 9s", "9s Ks").when((0, call("9s")))
    alone = calling(ruleset, "BJ* 9s 9s 9s 9s", "Ks").when((0, call("9s")))
    for viewer in (None, 1, 2, 4):
        seen = [redact(game.last(CardCalled), viewer, hand_over=False) for game in (guarded, alone)]
        assert seen[0] == seen[1]
    assert guarded.hand.asked == alone.hand.asked


@pytest.mark.parametrize("ruleset", CALLED_RULESETS)
@pytest.mark.parametrize(
    ("own", "called"),
    [
        ("9s 9s 9s 8h 8h 8h", "9s"),
        ("9s 9s 9s 9h 9h 9h 8c 8c 8c", "9h"),
        ("Th Th Th Th 4c 4c 4c", "4c"),
        ("2d 2d 2d As As As As", "2d"),
    ],
)
def test_the_default_call(ruleset: str, own: str, called: str) -> None:
    """Section 3, TIE-1: the highest-ranked card of which exactly three are held, fours only for want of those."""
    hands = ("9s", "9h 8c", "8h 4c", "2d")
    game = given(ruleset, f"BJ* {own}", *hands).when((0, ENTHRONE)).quiet().when((0, cmd.ExpireTurn(0)))
    assert (game.last(CardCalled).card, game.last(CardCalled).automatic) == (called, True)


@pytest.mark.parametrize("ruleset", CALLED_RULESETS)
def test_the_default_call_of_one_who_holds_only_fours(ruleset: str) -> None:
    """Section 3, TIE-1: none with exactly three, so the highest of which four are held."""
    game = given(ruleset, "BJ* 9s 9s 9s 9s 9h 9h 9h 9h 3c 3c 3c 3c", "4s", "5s", "6s", "7s")
    game.when((0, ENTHRONE)).quiet().when((0, cmd.ExpireTurn(0)))
    assert game.last(CardCalled).card == "9h"
    assert game.hand.roles.solo is Solo.HIDDEN


@pytest.mark.parametrize("ruleset", CALLED_RULESETS)
def test_the_called_card_plays_at_face_value(ruleset: str) -> None:
    """CALL-2: the called 9 loses to a ten and beats an eight."""
    game = calling(ruleset).when((0, call("9s"))).quiet().when((0, play("8h")))
    assert game.refused(1, play("9s")) is Refusal.NOT_YOUR_CARDS
    game.when((1, cmd.Pass()), (2, cmd.Pass()), (3, play("9s")), (4, play("Qs")))
    assert game.hand.trick.player == 4
