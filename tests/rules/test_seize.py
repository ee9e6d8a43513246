"""Seizing the crown: SEIZE-1, SEIZE-2."""

import pytest

from baohuang.rules.cards import CROWN
from baohuang.rules.events import SeizePublished
from baohuang.rules.refusals import Refusal
from baohuang.rules.rulesets import Options
from baohuang.rules.settlement import Solo
from baohuang.rules.state import Phase
from rules.playing import (
    ENTHRONE,
    NO_SEIZE,
    NOTHING,
    OPEN_SOLO,
    SEIZE,
    Game,
    given,
)

HANDS = ("4s", "5s", "BJ* 9s 9s 9s 3c", "SJ* 9s", "7s")
WITH_SEIZE = ("homy-weihai", "homy-classic", "homy-qingdao", "ourgame-classic")


def seizing(ruleset: str, options: Options | None = None) -> Game:
    """Return a game with emperor 2, asked about the seize."""
    return given(ruleset, *HANDS, options=options).when((2, ENTHRONE))


@pytest.mark.parametrize("ruleset", WITH_SEIZE)
@pytest.mark.parametrize(
    ("seizers", "winner"),
    [((2, 1), 2), ((1, 0), 1), ((0, 4), 0), ((4, 3), 4), ((3,), 3), ((0, 1, 2, 3, 4), 2), ((3, 4, 0), 0)],
)
def test_the_emperor_comes_first_then_upstream(ruleset: str, seizers: tuple[int, ...], winner: int) -> None:
    """SEIZE-1: the winner is emperor, open solo; there is no guard; only KICK is still asked; he leads."""
    game = seizing(ruleset)
    game.when(*((seat, SEIZE if seat in seizers else NO_SEIZE) for seat in range(5)))
    roles = game.hand.roles
    assert (roles.emperor, roles.guard, roles.solo, roles.public_solo) == (winner, None, Solo.OPEN, True)
    assert game.last(SeizePublished).seizers == tuple(sorted(seizers))
    if ruleset.startswith("homy"):
        assert game.hand.phase is Phase.KICK
        assert game.hand.asked == tuple(seat for seat in range(5) if seat != winner)
        game.quiet()
    assert (game.hand.phase, game.hand.turn) == (Phase.PLAY, winner)


@pytest.mark.parametrize("ruleset", WITH_SEIZE)
def test_no_card_moves_on_a_seize(ruleset: str) -> None:
    """SEIZE-2: only the role moves; the crown card stays where it was."""
    game = seizing(ruleset)
    before = game.hand.hands
    game.when(*((seat, SEIZE if seat == 4 else NO_SEIZE) for seat in range(5)))
    assert game.hand.hands == before
    assert CROWN in game.hand.hands[2]


@pytest.mark.parametrize("ruleset", WITH_SEIZE)
def test_answers_are_secret_until_all_are_in(ruleset: str) -> None:
    """Section 3: all five are asked once, nobody in particular; nothing is published before the last answer."""
    game = seizing(ruleset)
    assert (game.hand.phase, game.hand.turn, game.hand.asked) == (Phase.SEIZE, None, (0, 1, 2, 3, 4))
    game.when((3, SEIZE), (0, NO_SEIZE), (2, NO_SEIZE), (4, NO_SEIZE))
    assert game.of(SeizePublished) == []
    assert game.hand.roles.emperor == 2
    assert game.refused(3, NO_SEIZE) is Refusal.ALREADY_ANSWERED
    assert game.refused(1, NOTHING) is Refusal.WRONG_PHASE
    assert game.when((1, NO_SEIZE)).hand.roles.emperor == 3


@pytest.mark.parametrize("ruleset", WITH_SEIZE)
def test_refused_by_all_the_hand_goes_on(ruleset: str) -> None:
    """SEIZE-1: without a winner CALL or DECLARE follows, and the roles are as they were."""
    game = seizing(ruleset).when(*((seat, NO_SEIZE) for seat in range(5)))
    assert game.hand.roles.emperor == 2
    assert game.hand.phase is (Phase.DECLARE if ruleset == "homy-weihai" else Phase.CALL)
    assert game.last(SeizePublished).winner is None


@pytest.mark.parametrize("ruleset", ["homy-classic", "homy-qingdao", "ourgame-classic"])
def test_no_seize_after_an_open_solo(ruleset: str) -> None:
    """SEIZE-1: skipped when the emperor enthroned himself by open solo."""
    game = given(ruleset, *HANDS).when((2, OPEN_SOLO))
    assert game.of(SeizePublished) == []
    assert game.hand.phase in {Phase.KICK, Phase.PLAY}


@pytest.mark.parametrize(
    ("ruleset", "option", "phase"),
    [
        ("homy-standard", None, Phase.DECLARE),
        ("ourgame-simple", None, Phase.DECLARE),
        ("ourgame-simple", True, Phase.SEIZE),
        ("ourgame-simple", False, Phase.DECLARE),
        ("ourgame-classic", None, Phase.SEIZE),
        ("ourgame-classic", True, Phase.SEIZE),
        ("ourgame-classic", False, Phase.CALL),
    ],
)
def test_the_option(ruleset: str, option: bool | None, phase: Phase) -> None:  # noqa: FBT001 - the option's value
    """Section 1: `seize` is an option in L's rulesets, off in the simple one, on in the classic."""
    assert seizing(ruleset, Options(seize=option)).hand.phase is phase
