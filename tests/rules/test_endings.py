"""How a hand ends: END-H, END-L, END-2, END-3 and what is left when it has."""

from itertools import combinations

import pytest

from baohuang.rules import commands as cmd
from baohuang.rules.events import HandFinished, RoleRevealed, SeatWentOut
from baohuang.rules.phases.ending import hand_has_ended
from baohuang.rules.refusals import Refusal
from baohuang.rules.rulesets import Options, ruleset_named
from baohuang.rules.settlement import Solo
from baohuang.rules.state import Phase, Roles
from rules.playing import (
    ENTHRONE,
    NO_SEIZE,
    PASS,
    RULESET_NAMES,
    SEIZE,
    YIELD,
    Game,
    given,
    play,
)
from rules.test_play import playing

EMPEROR, GUARD = 0, 1
ALL_OUTS = [out for size in range(6) for out in combinations(range(5), size)]


def told(ruleset: str, solo: Solo | None, out: tuple[int, ...]) -> bool:
    """END-H and END-L in their own words; emperor 0, guard 1 unless solo."""
    if solo is Solo.OPEN:
        return len(out) >= 1
    if solo is Solo.HIDDEN and ruleset.startswith("homy"):
        return EMPEROR in out or len(out) >= 4
    if solo is Solo.HIDDEN:
        return EMPEROR in out or len(out) >= 2
    if ruleset.startswith("homy"):
        return len(out) >= 4
    return (EMPEROR in out and GUARD in out) or {2, 3, 4} <= set(out)


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
@pytest.mark.parametrize("solo", [None, Solo.OPEN, Solo.HIDDEN])
def test_every_combination_of_seats_out(ruleset: str, solo: Solo | None) -> None:
    """END-H, END-L: whoever is out, the hand is over exactly when the clause says so."""
    roles = Roles(emperor=EMPEROR, guard=None if solo else GUARD, solo=solo)
    for out in ALL_OUTS:
        assert hand_has_ended(ruleset_named(ruleset), roles, out) == told(ruleset, solo, out), out


def finished(game: Game) -> HandFinished:
    """Return how the hand ended; nobody may act in it any more."""
    event = game.last(HandFinished)
    assert (game.hand.phase, game.hand.turn, game.hand.trick.cards) == (Phase.SETTLED, None, ())
    assert {game.refused(seat, PASS) for seat in range(5)} == {Refusal.WRONG_PHASE}
    assert game.hand.result is not None
    assert game.hand.result.points == event.points
    return event


def test_h_four_out() -> None:
    """END-H: the fifth never plays; PTS-H: emperor and guard first and second, a sweep."""
    game = playing("BJ*", "SJ*", "2s", "As", "Ks Ks", ruleset="homy-standard").when((0, play("BJ*"))).all_pass()
    game.when((1, play("SJ*"))).all_pass().when((2, play("2s"))).all_pass().when((3, play("As")))
    assert (finished(game).places, finished(game).points) == ((0, 1, 2, 3, 4), (24, 12, -12, -12, -12))
    assert finished(game).doublings == ("PTS-H sweep",)


def test_l_the_crowns_side_is_out() -> None:
    """END-L, END-2: the others share the places by fewer cards, then order of play from the emperor."""
    game = playing("BJ*", "SJ*", "2s 2c", "As", "Ks Ks").when((0, play("BJ*"))).all_pass().when((1, play("SJ*")))
    assert finished(game).places == (0, 1, 3, 2, 4)
    assert finished(game).points == (6, 3, -3, -3, -3)


def test_l_all_three_rebels_are_out() -> None:
    """END-L, END-2: the emperor before the guard if he holds as many cards."""
    game = playing("BJ* 3s", "SJ* 4s", "2s", "As", "Ks").when((0, play("3s")), (1, PASS), (2, play("2s")), (3, PASS))
    game.when((4, PASS), (0, PASS), (1, PASS), (3, play("As")), (4, PASS), (0, PASS), (1, PASS), (4, play("Ks")))
    assert (finished(game).places, finished(game).points) == ((2, 3, 4, 0, 1), (-6, -3, 3, 3, 3))


@pytest.mark.parametrize(("ruleset", "won"), [("homy-standard", (16, -4)), ("ourgame-simple", (12, -3))])
def test_hidden_solo_the_emperor_is_out(ruleset: str, won: tuple[int, int]) -> None:
    """END-H, END-L: the hidden fact may thereby show; that is intended."""
    game = playing("BJ* SJ*", "4s", "5s", "6s", "7s", ruleset=ruleset).when((0, play("BJ* SJ*")))
    assert finished(game).points == (won[0], *(won[1],) * 4)
    assert finished(game).solo is Solo.HIDDEN
    assert game.last(RoleRevealed) == RoleRevealed(seat=0, solo=True)


def test_l_hidden_solo_two_opponents_are_out() -> None:
    """END-L, END-2: the emperor is third by order of play, and loses."""
    game = playing("BJ* SJ* 3s", "4s", "5s", "6s 6c", "7s 7c").when((0, play("3s")), (1, play("4s")), (2, play("5s")))
    assert (finished(game).places, finished(game).points) == ((1, 2, 0, 3, 4), (-12, 3, 3, 3, 3))


def test_h_hidden_solo_goes_on_until_the_emperor_or_all_others_are_out() -> None:
    """END-H: four out ends it too, with the emperor last."""
    game = playing("BJ* SJ* 3s", "4s", "5s", "6s", "7s", ruleset="homy-standard")
    game.when((0, play("3s")), (1, play("4s")), (2, play("5s")), (3, play("6s")))
    assert game.hand.phase is Phase.PLAY
    game.when((4, play("7s")))
    assert (finished(game).places, finished(game).points) == ((1, 2, 3, 4, 0), (-16, 4, 4, 4, 4))


@pytest.mark.parametrize(
    ("ruleset", "first", "points"),
    [
        ("homy-weihai", 4, (-8, -8, -8, -8, 32)),
        ("homy-weihai", 0, (8, 8, 8, 8, -32)),
        ("ourgame-simple", 4, (-6, -6, -6, -6, 24)),
        ("ourgame-simple", 0, (6, 6, 6, 6, -24)),
    ],
)
def test_open_solo_any_seat_out(ruleset: str, first: int, points: tuple[int, ...]) -> None:
    """END-H, END-L, PTS-L, PTS-H: seat 4 seized; whoever is out first decides."""
    options = Options(seize=True) if ruleset == "ourgame-simple" else None
    own = "7s" if first == 4 else "3c 7s"
    game = given(ruleset, "BJ*", "SJ*", "5s", "6s", own, options=options).when((0, ENTHRONE))
    game.when(*((seat, SEIZE if seat == 4 else NO_SEIZE) for seat in range(5))).quiet()
    game.when((4, play("7s" if first == 4 else "3c")))
    if first == 0:
        game.when((0, play("BJ*")))
    assert finished(game).places[0] == first
    assert finished(game).points == points


def test_cards_left_are_opened() -> None:
    """TABLE-2: everything is known once the hand is over; only seats that held cards are listed."""
    game = playing("BJ*", "SJ*", "2s 2c", "As", "Ks Kd").when((0, play("BJ*"))).all_pass().when((1, play("SJ*")))
    assert [(held.seat, held.cards) for held in finished(game).hands] == [
        (2, ("2c", "2s")), (3, ("As",)), (4, ("Kd", "Ks")),
    ]  # fmt: skip


def test_pasted_away_hands_may_end_the_hand_before_it_is_played() -> None:
    """END-3, END-L: two seats pasted their only card; they are out first, in order of play from the emperor."""
    game = given("ourgame-simple", "BJ* 9s", "Ts", "SJ* 8s", "3d", "2s").when((0, YIELD), (4, YIELD), (3, YIELD))
    game.when((2, ENTHRONE)).quiet()
    assert [event.seat for event in game.of(SeatWentOut)] == [3, 4]
    assert finished(game).places[:2] == (3, 4)
    assert finished(game).solo is Solo.HIDDEN


def test_a_seizer_without_a_card_has_won_before_the_lead() -> None:
    """END-3, SEIZE-2, END-2: he is out when PLAY begins; the rest by fewer cards, then order of play from him."""
    game = given("ourgame-simple", "BJ* 9s", "", "SJ* 8s", "3d", "2s", options=Options(seize=True)).when((0, ENTHRONE))
    game.when(*((seat, SEIZE if seat == 1 else NO_SEIZE) for seat in range(5)))
    assert finished(game).places == (1, 3, 4, 2, 0)
    assert finished(game).points == (-6, 24, -6, -6, -6)


def test_an_empty_guard_leaves_the_emperor_to_play_on() -> None:
    """END-3: one seat of the crown's side out is no end under END-L; the seats downstream are asked as usual."""
    game = given("homy-standard", "BJ* 9s", "Ts", "SJ* 8s", "3d", "").when((0, ENTHRONE)).quiet()
    assert game.hand.out == (4,)
    game.when((0, play("9s")), (1, PASS), (2, PASS), (3, PASS))
    assert game.hand.turn == 0
    assert game.refused(4, cmd.Pass()) is Refusal.NOT_YOUR_TURN
