"""Kicks: KICK-1 and who is asked (DECL-0)."""

import pytest

from baohuang.rules.events import KicksPublished
from baohuang.rules.refusals import Refusal
from baohuang.rules.state import Phase
from rules.playing import ENTHRONE, KICK, NO_KICK, NOTHING, OPEN_GUARD, OPEN_SOLO, PASS, Game, given, play
from rules.test_declare import HOMY, declaring


def kicking(ruleset: str, *, alone: bool = False, open_guard: bool = False) -> Game:
    """Return a game in KICK: emperor 0; guard 1, hidden or open, unless `alone`."""
    game = declaring(ruleset, alone=alone)
    game.when(*((seat, OPEN_GUARD if open_guard and seat == 1 else NOTHING) for seat in game.hand.asked))
    assert game.hand.phase is Phase.KICK
    return game


@pytest.mark.parametrize("ruleset", HOMY)
def test_who_is_asked_tells_no_role(ruleset: str) -> None:
    """DECL-0: all but the emperor and a guard who is public, so a hidden guard is asked like anybody."""
    assert kicking(ruleset).hand.asked == (1, 2, 3, 4)
    assert kicking(ruleset, alone=True).hand.asked == (1, 2, 3, 4)
    assert kicking(ruleset, open_guard=True).hand.asked == (2, 3, 4)


@pytest.mark.parametrize("ruleset", HOMY)
def test_only_opponents_of_the_crown_kick(ruleset: str) -> None:
    """KICK-1: the hidden guard is refused, to himself alone, and may still say no; the emperor is not asked."""
    game = kicking(ruleset)
    assert game.refused(1, KICK) is Refusal.NOT_ELIGIBLE
    assert game.refused(0, NO_KICK) is Refusal.NOT_ELIGIBLE
    game.when((1, NO_KICK), (2, KICK), (3, NO_KICK))
    assert game.refused(2, NO_KICK) is Refusal.ALREADY_ANSWERED
    assert game.of(KicksPublished) == []
    game.when((4, NO_KICK))
    assert (game.hand.stakes.kicked, game.hand.stakes.kickers) == (True, (2,))
    assert (game.hand.phase, game.hand.turn) == (Phase.PLAY, 0)


@pytest.mark.parametrize("ruleset", HOMY)
def test_a_public_guard_is_not_asked(ruleset: str) -> None:
    """DECL-0: what everybody knows gives nothing away."""
    assert kicking(ruleset, open_guard=True).refused(1, NO_KICK) is Refusal.NOT_ELIGIBLE


@pytest.mark.parametrize("ruleset", HOMY)
@pytest.mark.parametrize("kickers", [(), (3,), (1, 2, 3, 4)])
def test_every_opponent_of_a_solo_may_kick(ruleset: str, kickers: tuple[int, ...]) -> None:
    """KICK-1: one kick or more count the same."""
    game = kicking(ruleset, alone=True)
    game.when(*((seat, KICK if seat in kickers else NO_KICK) for seat in (1, 2, 3, 4)))
    assert game.hand.stakes.kickers == kickers
    assert game.hand.stakes.kicked is bool(kickers)


@pytest.mark.parametrize("ruleset", ["homy-classic", "homy-qingdao"])
def test_kicks_after_an_open_solo_at_the_crown(ruleset: str) -> None:
    """SEIZE-1, KICK-1: KICK still applies, the other phases do not."""
    game = given(ruleset, "BJ* 3s", "4s", "5s", "6s", "7s").when((0, OPEN_SOLO))
    assert (game.hand.phase, game.hand.asked) == (Phase.KICK, (1, 2, 3, 4))


@pytest.mark.parametrize("ruleset", ["ourgame-simple", "ourgame-classic"])
def test_no_kicks_in_ourgame(ruleset: str) -> None:
    """Section 1, the row `kick`: play follows the declarations."""
    game = declaring(ruleset)
    game.when(*((seat, NOTHING) for seat in game.hand.asked))
    assert game.hand.phase is Phase.PLAY
    assert game.refused(2, KICK) is Refusal.WRONG_PHASE


@pytest.mark.parametrize(("kick", "points"), [(True, (16, 8, -8, -8, -8)), (False, (8, 4, -4, -4, -4))])
def test_a_kick_doubles_win_or_lose(kick: bool, points: tuple[int, ...]) -> None:  # noqa: FBT001 - the choice
    """KICK-1, PTS-H: the same hand with and without, played out: emperor first, guard third."""
    game = given("homy-standard", "BJ*", "SJ* 3s", "2s", "As", "Qs Qs").when((0, ENTHRONE))
    game.when(*((seat, NOTHING) for seat in range(5)), *((seat, NO_KICK) for seat in (1, 2, 3)))
    game.when((4, KICK if kick else NO_KICK), (0, play("BJ*"))).all_pass()
    game.when((1, play("3s")), (2, play("2s")), (3, PASS), (4, PASS), (1, play("SJ*"))).all_pass()
    result = game.when((3, play("As"))).hand.result
    assert result is not None
    assert (result.places, result.points) == ((0, 2, 1, 3, 4), points)
