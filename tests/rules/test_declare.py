"""Declarations: DECL-0 to DECL-6. Unless a hand says otherwise seat 0 is emperor and seat 1 his hidden guard."""

import pytest

from baohuang.rules.cards import SWORD
from baohuang.rules.events import DeclarationsPublished
from baohuang.rules.refusals import Refusal
from baohuang.rules.rulesets import Options
from baohuang.rules.settlement import Solo
from baohuang.rules.state import Phase
from rules.playing import (
    CALLED_RULESETS,
    ENTHRONE,
    GO_OPEN_SOLO,
    KICK,
    NO_SEIZE,
    NOTHING,
    OPEN_GUARD,
    REVOLT,
    RULESET_NAMES,
    SURRENDER,
    SWORD_RULESETS,
    Game,
    call,
    given,
)

HOMY = tuple(name for name in RULESET_NAMES if name.startswith("homy"))
REVOLTING = ("homy-standard", "homy-weihai", "ourgame-simple")


def declaring(ruleset: str, *, alone: bool = False) -> Game:
    """Return a game in DECLARE: emperor 0 with hidden guard 1, or `alone` as hidden solo."""
    own, other = ("BJ* SJ* 9s 9s 9s 9s", "8s") if alone else ("BJ* 9s 9s 9s", "SJ* 9s")
    game = given(ruleset, own, other, "5s", "6s", "7s").when((0, ENTHRONE))
    if game.hand.phase is Phase.SEIZE:
        game.when(*((seat, NO_SEIZE) for seat in range(5)))
    if game.hand.phase is Phase.CALL:
        game.when((0, call("9s")))
    assert game.hand.phase is Phase.DECLARE
    return game


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
@pytest.mark.parametrize("alone", [True, False])
def test_who_is_asked_tells_no_role(ruleset: str, alone: bool) -> None:  # noqa: FBT001 - both ways to be emperor
    """DECL-0: all five, save the emperor in ourgame-classic, whether there is a guard or not."""
    asked = (1, 2, 3, 4) if ruleset == "ourgame-classic" else (0, 1, 2, 3, 4)
    game = declaring(ruleset, alone=alone)
    assert (game.hand.asked, game.hand.turn) == (asked, None)


def test_the_emperor_of_ourgame_classic_is_not_asked() -> None:
    """DECL-0: to him that is a refusal, and he says nothing."""
    assert declaring("ourgame-classic").refused(0, NOTHING) is Refusal.NOT_ELIGIBLE


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_the_guard_may_go_open(ruleset: str) -> None:
    """DECL-1: then he is public, once all have answered and not before; nobody else may."""
    game = declaring(ruleset)
    game.when((1, OPEN_GUARD))
    assert game.of(DeclarationsPublished) == []
    for seat in set(game.hand.asked) - {1}:
        assert game.refused(seat, OPEN_GUARD) is Refusal.NOT_ELIGIBLE
        game.when((seat, NOTHING))
    assert game.hand.roles.public_guard == 1
    assert game.hand.stakes.open_guard


@pytest.mark.parametrize("ruleset", SWORD_RULESETS)
def test_a_hidden_solo_by_sword_card_may_go_open(ruleset: str) -> None:
    """DECL-2: from then on the hand is an open solo."""
    game = declaring(ruleset, alone=True).when((0, GO_OPEN_SOLO))
    game.when(*((seat, NOTHING) for seat in (1, 2, 3, 4)))
    assert (game.hand.roles.solo, game.hand.roles.public_solo) == (Solo.OPEN, True)


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_nobody_else_may_go_open_solo(ruleset: str) -> None:
    """DECL-2: not an emperor with a guard, not the others."""
    game = declaring(ruleset)
    for seat in game.hand.asked:
        assert game.refused(seat, GO_OPEN_SOLO) is Refusal.NOT_ELIGIBLE


@pytest.mark.parametrize("ruleset", ["homy-classic", "homy-qingdao"])
def test_a_hidden_solo_by_call_cannot_go_open(ruleset: str) -> None:
    """DECL-2: open solo is by sword card here; a called-card emperor had his chance in CALL."""
    assert declaring(ruleset, alone=True).refused(0, GO_OPEN_SOLO) is Refusal.NOT_ELIGIBLE


@pytest.mark.parametrize("ruleset", REVOLTING)
def test_neither_emperor_nor_guard_revolts(ruleset: str) -> None:
    """DECL-3: the refusal is theirs alone."""
    game = declaring(ruleset)
    assert game.refused(0, REVOLT) is Refusal.NOT_ELIGIBLE
    assert game.refused(1, REVOLT) is Refusal.NOT_ELIGIBLE


@pytest.mark.parametrize("ruleset", CALLED_RULESETS)
def test_no_revolt_where_the_ruleset_has_none(ruleset: str) -> None:
    """Section 1, the row `revolt threshold`."""
    game = declaring(ruleset)
    assert {game.refused(seat, REVOLT) for seat in (2, 3, 4)} == {Refusal.NOT_ELIGIBLE}


@pytest.mark.parametrize(
    ("ruleset", "alone", "revolters", "succeeds"),
    [
        ("ourgame-simple", False, (3,), False),
        ("ourgame-simple", False, (2, 4), True),
        ("ourgame-simple", False, (2, 3, 4), True),
        ("ourgame-simple", True, (1,), False),
        ("ourgame-simple", True, (1, 2), True),
        ("homy-standard", False, (2, 3), False),
        ("homy-standard", False, (2, 3, 4), True),
        ("homy-standard", True, (2, 3, 4), False),
        ("homy-standard", True, (1, 2, 3, 4), True),
        ("homy-weihai", False, (2, 3), False),
        ("homy-weihai", False, (2, 3, 4), True),
        ("homy-weihai", True, (1, 2, 3), False),
        ("homy-weihai", True, (1, 2, 3, 4), True),
    ],
)
def test_revolts_succeed_at_the_threshold(
    ruleset: str,
    alone: bool,  # noqa: FBT001 - both ways to be emperor
    revolters: tuple[int, ...],
    succeeds: bool,  # noqa: FBT001 - the expected value
) -> None:
    """DECL-3: success forces the guard or the hidden solo into the open; failed revolts stay visible, no more."""
    game = declaring(ruleset, alone=alone)
    game.when(*((seat, REVOLT if seat in revolters else NOTHING) for seat in range(5)))
    roles, stakes = game.hand.roles, game.hand.stakes
    assert stakes.revolters == revolters
    assert stakes.revolt is succeeds
    assert roles.public_guard == (1 if succeeds and not alone else None)
    assert roles.public_solo is (succeeds and alone)
    assert roles.solo is (Solo.HIDDEN if alone else None)


def test_without_a_revolt_there_is_no_success() -> None:
    """DECL-3: nobody revolting is no revolt of all."""
    for ruleset in RULESET_NAMES:
        game = declaring(ruleset)
        game.when(*((seat, NOTHING) for seat in game.hand.asked))
        assert not game.hand.stakes.revolt
        assert game.hand.roles.public_guard is None


@pytest.mark.parametrize("ruleset", SWORD_RULESETS)
def test_an_open_solo_leaves_revolts_of_its_round_without_effect(ruleset: str) -> None:
    """DECL-6: the hand is open solo; the revolts stay visible."""
    game = declaring(ruleset, alone=True).when((0, GO_OPEN_SOLO))
    game.when(*((seat, REVOLT) for seat in (1, 2, 3, 4)))
    assert (game.hand.roles.solo, game.hand.stakes.revolt) == (Solo.OPEN, False)
    assert game.hand.stakes.revolters == (1, 2, 3, 4)


@pytest.mark.parametrize("ruleset", HOMY)
def test_a_hidden_solo_may_surrender(ruleset: str) -> None:
    """DECL-5: the hand ends when all have answered; −4 for him, +1 each for the others, no places."""
    game = declaring(ruleset, alone=True).when((0, SURRENDER))
    assert game.hand.phase is Phase.DECLARE
    game.when(*((seat, NOTHING) for seat in (1, 2, 3, 4)))
    result = game.hand.result
    assert result is not None
    assert (result.places, result.points, result.void) == ((), (-4, 1, 1, 1, 1), False)
    assert (game.hand.roles.solo, game.hand.roles.public_solo) == (Solo.HIDDEN, True)
    assert game.refused(1, KICK) is Refusal.WRONG_PHASE


@pytest.mark.parametrize("ruleset", ["homy-standard", "homy-weihai"])
def test_revolts_do_not_multiply_a_surrender(ruleset: str) -> None:
    """DECL-5: no multipliers."""
    game = declaring(ruleset, alone=True).when((0, SURRENDER), *((seat, REVOLT) for seat in (1, 2, 3, 4)))
    assert game.hand.result is not None
    assert game.hand.result.points == (-4, 1, 1, 1, 1)


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_nobody_else_surrenders(ruleset: str) -> None:
    """DECL-5: not with a guard, not the others."""
    game = declaring(ruleset)
    assert {game.refused(seat, SURRENDER) for seat in game.hand.asked} == {Refusal.NOT_ELIGIBLE}


def test_no_surrender_in_ourgame() -> None:
    """Section 1, the row `surrender`."""
    assert declaring("ourgame-simple", alone=True).refused(0, SURRENDER) is Refusal.NOT_ELIGIBLE


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_one_answer_a_seat(ruleset: str) -> None:
    """Section 3: every seat asked answers once."""
    game = declaring(ruleset).when((2, NOTHING))
    assert game.refused(2, NOTHING) is Refusal.ALREADY_ANSWERED
    assert game.of(DeclarationsPublished) == []


def test_after_a_seize_refused_the_sword_still_guards() -> None:
    """SEIZE, then DECLARE (option `seize` of ourgame-simple): the guard by sword card may still go open."""
    game = given("ourgame-simple", "BJ* 9s", f"{SWORD} 9s", "5s", "6s", "7s", options=Options(seize=True))
    game.when((0, ENTHRONE), *((seat, NO_SEIZE) for seat in range(5)))
    game.when((1, OPEN_GUARD), *((seat, NOTHING) for seat in (0, 2, 3, 4)))
    assert game.hand.roles.public_guard == 1
