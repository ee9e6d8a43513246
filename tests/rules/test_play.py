"""Playing cards: PLAY-1, PLAY-2, WIND-1, ROLE-1, END-3 and the order in which a wrong set is refused."""

import pytest

from baohuang.rules import commands as cmd
from baohuang.rules.cards import Card
from baohuang.rules.events import CardsPlayed, Passed, RoleRevealed
from baohuang.rules.refusals import Refusal
from baohuang.rules.rulesets import Options
from baohuang.rules.settlement import Solo
from baohuang.rules.state import Phase
from rules.playing import CALLED_RULESETS, ENTHRONE, NOTHING, PASS, SWORD_RULESETS, Game, call, cards, given, play

HANDS = ("BJ* 9s 9h 3c", "Ts 4c 4d", "SJ* 8s", "Js Jh 6c", "Qs 7c SJ")


def playing(*hands: str, ruleset: str = "ourgame-simple", options: Options | None = None) -> Game:
    """Return a game in PLAY with emperor 0, nothing declared."""
    game = given(ruleset, *(hands or HANDS), options=options).when((0, ENTHRONE)).quiet()
    assert game.hand.phase is Phase.PLAY
    return game


def public_guard(game: Game) -> int | None:
    """Return the guard whom everybody knows."""
    return game.hand.roles.public_guard


def test_the_emperor_leads_and_must_play() -> None:
    """PLAY-1: he may not pass, nobody else is asked, and no other move is left."""
    game = playing()
    assert game.hand.turn == 0
    assert game.refused(0, PASS) is Refusal.MUST_LEAD
    assert game.refused(1, PASS) is Refusal.NOT_YOUR_TURN
    assert game.refused(1, play("Ts")) is Refusal.NOT_YOUR_TURN
    assert game.refused(0, NOTHING) is Refusal.WRONG_PHASE


@pytest.mark.parametrize(
    ("set_", "reason"),
    [
        ("Ks", Refusal.NOT_YOUR_CARDS),
        ("9s 9s", Refusal.NOT_YOUR_CARDS),
        ("BJ", Refusal.NOT_YOUR_CARDS),
        ("Ks 3c", Refusal.NOT_YOUR_CARDS),
        ("9s 3c", Refusal.NOT_A_SET),
        ("BJ* 9s 3c", Refusal.NOT_A_SET),
        ("", Refusal.NOT_A_SET),
    ],
)
def test_what_cannot_be_led(set_: str, reason: Refusal) -> None:
    """SET-1: cards held, of one rank, with jokers or not; the marked joker is not the plain one."""
    assert playing().refused(0, play(set_)) is reason


def test_cards_of_no_deck_are_not_held() -> None:
    """A client may send any text for a card: it is simply not in his hand."""
    for text in ("??", "", "9S", "BJ**"):
        assert playing().refused(0, cmd.Play((Card(text),))) is Refusal.NOT_YOUR_CARDS


@pytest.mark.parametrize("answer", ["4c", "4c 4d", "Ts 4c"])
def test_what_does_not_beat(answer: str) -> None:
    """BEAT-1: lower, or of another size, or no set: each with its own reason."""
    expected = Refusal.NOT_A_SET if answer == "Ts 4c" else Refusal.DOES_NOT_BEAT
    assert playing().when((0, play("9s"))).refused(1, play(answer)) is expected


def test_an_equal_set_never_beats() -> None:
    """BEAT-1: strictly higher."""
    game = playing("BJ* 9s 3c", "9h 4c", "SJ* 8s", "6c", "7c").when((0, play("9s")))
    assert game.refused(1, play("9h")) is Refusal.DOES_NOT_BEAT


def test_holding_sixes_comes_before_beating() -> None:
    """HOLD-1 and the order of reasons: NOT_YOUR_CARDS, NOT_A_SET, SIXES_HELD, DOES_NOT_BEAT."""
    hands = ("BJ* 7s 7h", "6c 6d 8s", "SJ* 9s", "6h 6s", "Ts 9c")
    game = playing(*hands, options=Options(short_deck=True, hold6=True)).when((0, play("7s")))
    assert game.refused(1, play("6h")) is Refusal.NOT_YOUR_CARDS
    assert game.refused(1, play("6c 8s")) is Refusal.NOT_A_SET
    assert game.refused(1, play("6c")) is Refusal.SIXES_HELD
    game.when((1, PASS), (2, PASS))
    assert game.refused(3, play("6h")) is Refusal.SIXES_HELD
    assert game.refused(3, play("6h 6s")) is Refusal.DOES_NOT_BEAT


def test_sixes_alone_go_all_at_once() -> None:
    """HOLD-1: the last of the hand, led as one set."""
    game = playing("BJ* 6c 6d", "8s", "SJ* 9s", "8h", "Ts", options=Options(short_deck=True, hold6=True))
    game.when((0, play("BJ*"))).all_pass()
    assert game.refused(0, play("6c")) is Refusal.SIXES_HELD
    assert game.when((0, play("6c 6d"))).hand.out == (0,)


def test_roast_on_the_table() -> None:
    """ROAST-1: where it is on, two small jokers beat one, and the next answers the two."""
    hands = ("BJ* 3c 4c", "SJ SJ 4d", "SJ* 8s", "6c BJ BJ", "SJ 7c")
    game = playing(*hands, options=Options(roast=True)).when((0, play("3c")), (1, PASS), (2, play("SJ*")), (3, PASS))
    assert game.refused(4, play("SJ")) is Refusal.DOES_NOT_BEAT
    game.when((4, PASS), (0, PASS), (1, play("SJ SJ")), (2, PASS))
    assert game.hand.trick.cards == cards("SJ SJ")
    game.when((3, play("BJ BJ")))
    assert game.hand.trick.player == 3
    plain = playing(*hands).when((0, play("3c")), (1, PASS), (2, play("SJ*")), (3, PASS), (4, PASS), (0, PASS))
    assert plain.refused(1, play("SJ SJ")) is Refusal.DOES_NOT_BEAT


def test_a_pass_does_not_bar_later_play_in_the_trick() -> None:
    """PLAY-1: soft pass."""
    game = playing().when((0, play("9s")), (1, PASS), (2, PASS), (3, play("Js")), (4, PASS), (0, PASS))
    assert game.refused(1, play("Ts")) is Refusal.DOES_NOT_BEAT
    game.when((1, PASS), (2, play("SJ*")))
    assert game.hand.trick.player == 2


def test_the_trick_ends_when_all_others_have_passed_since_the_last_play() -> None:
    """PLAY-2: passes before the last play do not count; who made it leads next, and may not pass."""
    game = playing().when((0, play("9s")), (1, PASS), (2, PASS), (3, play("Js")), (4, PASS), (0, PASS), (1, PASS))
    assert game.hand.trick.cards == cards("Js")
    game.when((2, PASS))
    assert game.last(Passed).trick_over
    assert (game.hand.turn, game.hand.trick.cards) == (3, ())
    assert game.refused(3, PASS) is Refusal.MUST_LEAD


def test_going_out_leaves_the_set_to_be_beaten() -> None:
    """WIND-1: if all still in pass on it, the first seat downstream of the leaver leads."""
    game = playing("BJ*", "Ts 4c", "SJ* 8s", "Js 6c", "Qs 7c").when((0, play("BJ*")))
    assert (game.hand.out, game.hand.trick.cards, game.hand.turn) == ((0,), ("BJ*",), 1)
    game.when((1, PASS), (2, PASS), (3, PASS))
    assert not game.last(Passed).trick_over
    game.when((4, PASS))
    assert (game.hand.turn, game.hand.trick.cards) == (1, ())


def test_the_wind_skips_seats_that_are_out() -> None:
    """WIND-1: the first seat downstream that is still in."""
    game = playing("BJ* 3c", "Ts", "SJ* 8s 8h", "2s", "Qs 7c")
    game.when((0, play("3c")), (1, play("Ts")), (2, PASS), (3, play("2s")), (4, PASS), (0, PASS), (2, PASS))
    assert game.hand.turn == 4
    out_first = playing("BJ* 3c", "Ts", "SJ* 8s 8h", "4s 5s", "Qs 7c")
    out_first.when((0, play("3c")), (1, play("Ts")), (2, PASS), (3, PASS), (4, PASS), (0, PASS))
    assert out_first.hand.turn == 2


def test_any_play_over_the_set_cancels_the_wind() -> None:
    """WIND-1: who played over it leads, the seat downstream does not."""
    game = playing("BJ* 9s", "Ts 4c", "SJ* 8s", "Js 6c", "Qs 7c").when((0, play("BJ*"))).all_pass()
    game.when((0, play("9s")), (1, PASS), (2, PASS), (3, play("Js")), (4, PASS), (1, PASS), (2, PASS))
    assert game.hand.turn == 3


def test_the_event_of_a_play_says_its_consequences() -> None:
    """The cards in order, how many are left, the place if that was the last, who acts next."""
    game = playing().when((0, play("9h 9s")))
    event = game.last(CardsPlayed)
    assert (event.cards, event.left, event.place, event.turn, event.automatic) == (cards("9h 9s"), 2, 0, 1, False)
    out = playing("BJ*", *HANDS[1:]).when((0, play("BJ*"))).last(CardsPlayed)
    assert (out.left, out.place, out.turn) == (0, 1, 1)


@pytest.mark.parametrize("ruleset", SWORD_RULESETS)
def test_the_sword_card_shows_the_guard(ruleset: str) -> None:
    """ROLE-1: not another small joker, not another's."""
    game = playing("BJ* SJ 3c 3d", "4c", "SJ* SJ 8s", "6c", "7c", ruleset=ruleset)
    game.when((0, play("3c")), (1, PASS), (2, play("SJ")))
    assert public_guard(game) is None
    game.all_pass().when((2, play("8s")), (3, PASS), (4, PASS), (0, play("SJ")))
    assert public_guard(game) is None
    game.all_pass().when((0, play("3d")), (1, PASS), (2, play("SJ*")))
    assert (public_guard(game), game.last(RoleRevealed)) == (2, RoleRevealed(seat=2, solo=False))


@pytest.mark.parametrize("ruleset", SWORD_RULESETS)
def test_the_sword_card_shows_a_hidden_solo(ruleset: str) -> None:
    """ROLE-1: it stays a hidden solo, now public."""
    game = (
        playing("BJ* SJ* 3c 3d", "4c 5c", "8s 8c", "6c 6d", "7c 7d", ruleset=ruleset).when((0, play("3c"))).all_pass()
    )
    assert not game.hand.roles.public_solo
    game.when((0, play("SJ* 3d")))
    assert (game.hand.roles.solo, game.hand.roles.public_solo) == (Solo.HIDDEN, True)


def called(card: str, ruleset: str, *hands: str) -> Game:
    """Return a game in PLAY in which emperor 0 has called the card."""
    return given(ruleset, *hands).when((0, ENTHRONE)).quiet().when((0, call(card))).quiet()


@pytest.mark.parametrize("ruleset", CALLED_RULESETS)
def test_the_called_card_shows_the_guard(ruleset: str) -> None:
    """ROLE-1: his copy, not the emperor's three, not another suit of the rank."""
    game = called("9s", ruleset, "BJ* 9s 9s 9s 3c", "9h 4c", "9s 9c 5c", "6c 6d", "7c 7d")
    game.when((0, play("9s 9s 9s"))).all_pass().when((0, play("3c")), (1, play("9h")))
    assert public_guard(game) is None
    game.all_pass().when((1, play("4c")), (2, play("9c")))
    assert public_guard(game) is None
    game.all_pass().when((2, play("5c"))).when((3, play("6c")), (4, play("7c")), (0, PASS))
    game.when((2, play("9s")))
    assert public_guard(game) == 2


@pytest.mark.parametrize("ruleset", CALLED_RULESETS)
def test_the_fourth_copy_shows_a_hidden_solo(ruleset: str) -> None:
    """ROLE-1: three copies could still be those of an emperor with a guard; the fourth could not."""
    game = called("9s", ruleset, "BJ* 9s 9s 9s 9s 3c", "Th 4c", "Td 5c", "6c 6d", "7c 7d")
    game.when((0, play("9s 9s 9s"))).all_pass()
    assert not game.hand.roles.public_solo
    game.when((0, play("9s")))
    assert (game.hand.roles.solo, game.hand.roles.public_solo) == (Solo.HIDDEN, True)


@pytest.mark.parametrize("ruleset", CALLED_RULESETS)
def test_four_copies_at_once_show_a_hidden_solo(ruleset: str) -> None:
    """ROLE-1: the fourth is among them."""
    game = called("9s", ruleset, "BJ* 9s 9s 9s 9s 3c", "Th 4c", "Td 5c", "6c 6d", "7c 7d")
    assert game.when((0, play("9s 9s 9s 9s"))).hand.roles.public_solo


def test_a_role_is_shown_once() -> None:
    """ROLE-1: who is public already is not announced again."""
    game = playing("BJ* 3c 3d", "4c", "SJ* 8s", "6c", "7c").when((0, play("3c")), (1, PASS), (2, play("SJ*")))
    game.all_pass().when((2, play("8s")))
    assert len(game.of(RoleRevealed)) == 1


def test_a_seat_without_a_card_is_out_when_play_begins() -> None:
    """END-3: it is never asked in PLAY, and has the first place."""
    game = playing("BJ* 3c", "", "SJ* 8s", "6c", "7c")
    assert game.hand.out == (1,)
    assert game.when((0, play("3c"))).hand.turn == 2
