"""What the public sees tells no choice and no role: two courses that differ in secret look alike (TABLE-2)."""

from collections.abc import Sequence

import pytest

from baohuang.rules import commands as cmd
from baohuang.rules.events import Answered, CardCalled, Event
from baohuang.rules.redact import Viewer, mask, redact
from baohuang.rules.state import Answer
from rules.playing import (
    ENTHRONE,
    GO_OPEN_SOLO,
    KICK,
    NO_KICK,
    NO_SEIZE,
    NOTHING,
    OPEN_GUARD,
    PASS,
    REVOLT,
    RULESET_NAMES,
    SEIZE,
    SURRENDER,
    SWORD_RULESETS,
    YIELD,
    Game,
    given,
    given_deal,
    given_table,
    play,
)
from rules.test_declare import HOMY, declaring
from rules.test_kick import kicking
from rules.test_seize import WITH_SEIZE, seizing


def seen(game: Game, viewer: Viewer) -> list[Event]:
    """Return the game's events as the viewer sees them while the hand goes on."""
    return [redact(event, viewer, hand_over=False) for event in game.events]


def alike(games: Sequence[Game], viewer: Viewer) -> bool:
    """Tell whether the viewer saw the same in all of them, event by event and in the state they lead to."""
    first, *others = games
    return all(
        seen(game, viewer) == seen(first, viewer) and mask(game.table, viewer) == mask(first.table, viewer)
        for game in others
    )


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_declarations_look_alike_until_published(ruleset: str) -> None:
    """An `Answered` of any answer has the same public form, for everybody but who gave it."""
    choices = [NOTHING, OPEN_GUARD] if ruleset in {"homy-classic", "homy-qingdao", "ourgame-classic"} else [NOTHING]
    games = [declaring(ruleset).when((1, choice)) for choice in {*choices, OPEN_GUARD}]
    for viewer in (None, 0, 2, 3, 4):
        assert alike(games, viewer)
    assert not alike(games, 1)


@pytest.mark.parametrize("ruleset", ["homy-standard", "homy-weihai"])
def test_a_hidden_solos_declarations_look_alike_until_published(ruleset: str) -> None:
    """DECL-2, DECL-5: silence, open solo and surrender."""
    games = [declaring(ruleset, alone=True).when((0, choice)) for choice in (NOTHING, GO_OPEN_SOLO, SURRENDER)]
    for viewer in (None, 1, 2, 3, 4):
        assert alike(games, viewer)


@pytest.mark.parametrize("ruleset", SWORD_RULESETS)
def test_a_revolt_looks_like_silence_until_published(ruleset: str) -> None:
    """DECL-3."""
    games = [declaring(ruleset).when((3, choice)) for choice in (NOTHING, REVOLT)]
    assert all(alike(games, viewer) for viewer in (None, 0, 1, 2, 4))


@pytest.mark.parametrize("ruleset", WITH_SEIZE)
def test_a_seize_looks_like_none_until_published(ruleset: str) -> None:
    """SEIZE-1."""
    games = [seizing(ruleset).when((4, choice)) for choice in (SEIZE, NO_SEIZE)]
    assert all(alike(games, viewer) for viewer in (None, 0, 1, 2, 3))


@pytest.mark.parametrize("ruleset", HOMY)
def test_a_kick_looks_like_none_until_published(ruleset: str) -> None:
    """KICK-1."""
    games = [kicking(ruleset).when((4, choice)) for choice in (KICK, NO_KICK)]
    assert all(alike(games, viewer) for viewer in (None, 0, 1, 2, 3))


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_a_hidden_solo_looks_like_an_emperor_with_a_guard(ruleset: str) -> None:
    """DECL-0, CALL-1: from the deal to the first play, to everybody whose own cards do not tell; sizes are equal."""
    common = ("4h 5h 6h", "7s Ks Qs", "8s As Ad")
    with_guard = given(ruleset, "BJ* 9s 9s 9s Ts", "SJ* 9s 5s", *common)
    alone = given(ruleset, "BJ* 9s 9s 9s 9s", "Ts 6s 5s", *common)
    if ruleset in SWORD_RULESETS:
        alone = given(ruleset, "BJ* 9s 9s 9s SJ*", "Ts 9s 5s", *common)
    for game in (with_guard, alone):
        game.when((0, ENTHRONE)).quiet()
        if game.hand.turn == 0 and game.hand.roles.called is None and ruleset not in SWORD_RULESETS:
            game.when((0, cmd.CallCard(game.hand.hands[0][0]))).quiet()
        game.when((0, play("BJ*")), (1, PASS))
    for viewer in (None, 2, 3, 4):
        assert alike([with_guard, alone], viewer)


def test_the_pasted_card_is_seen_by_who_pasted_it_and_who_gets_it() -> None:
    """CROWN-2, TABLE-2: to the others it is a card of the pile."""
    hands = ("BJ* 9s", "Ts Th", "SJ* 8s", "3d SJ")
    games = [given("ourgame-simple", *hands, last).when((0, YIELD), (4, YIELD)) for last in ("2s 5c", "Ac 5c")]
    assert all(alike(games, viewer) for viewer in (None, 0, 1, 2, 3))
    for game in games:
        game.when((3, ENTHRONE))
    assert all(alike(games, viewer) for viewer in (None, 0, 1, 2))
    assert not alike(games, 3)


def test_an_answer_is_shown_to_who_gave_it_and_to_all_when_the_hand_is_over() -> None:
    """TABLE-2: everything once the hand is over."""
    answered = declaring("ourgame-simple").when((3, REVOLT)).last(Answered)
    assert [viewer for viewer in range(5) if redact(answered, viewer, hand_over=False).hidden] == [3]
    opened = redact(answered, None, hand_over=True)
    assert opened.hidden is not None
    assert opened.hidden.answer is Answer.REVOLT


@pytest.mark.parametrize("ruleset", ["homy-classic", "homy-qingdao", "ourgame-classic"])
def test_the_call_tells_the_guard_and_not_the_emperor(ruleset: str) -> None:
    """CALL-1, TABLE-2: who the fourth copy is with, its holder alone knows."""
    roles = {viewer: mask(declaring(ruleset).table, viewer).hand for viewer in (None, 0, 1, 2)}
    assert {viewer: hand.roles.guard for viewer, hand in roles.items() if hand} == {None: None, 0: None, 1: 1, 2: None}
    called = declaring(ruleset).last(CardCalled)
    assert [viewer for viewer in range(5) if redact(called, viewer, hand_over=False).hidden] == [1]


def test_no_view_of_a_running_hand_has_a_seed() -> None:
    """FAIR-1: neither of the deal being played nor of one to come."""
    game = given_deal("homy-standard")
    assert game.table.seeds != ("",)
    assert {mask(game.table, viewer).seeds for viewer in (None, 0, 1, 2, 3, 4)} == {("",)}
    waiting = given_table("homy-standard").table
    assert {view.commitment.seed for view in [mask(waiting, 0), mask(waiting, None)] if view.commitment} == {""}
