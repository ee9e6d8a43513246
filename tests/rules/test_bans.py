"""Who may not play: bans (RULE-1), and the hand at another table (FINE-6), as far as the rules know of them."""

from dataclasses import replace

import pytest

from baohuang.rules import commands as cmd
from baohuang.rules.bans import SetBan, decide_ban, is_banned
from baohuang.rules.decide import decide
from baohuang.rules.events import Event, HandStarted, PlayerBanned, PlayerReinstated, PlayerUnseated, ReadinessSet
from baohuang.rules.refusals import Refusal, RefusedError
from baohuang.rules.state import PlayerId, UnseatingReason, seat_of
from rules.playing import AT, PLAYERS, Game, given_table, seed_of

READY = cmd.SetReady(ready=True)
BAN = SetBan(PLAYERS[0], banned=True, note="cheated", at=AT)
NOT_SEATED = PlayerId("a sixth")


def four_ready() -> Game:
    """Return a table at which all sit and all but the last are ready."""
    game = given_table("ourgame-simple")
    for player in PLAYERS[:4]:
        game.act(player, READY)
    return game


def command(player: PlayerId, action: cmd.Action) -> cmd.Command:
    """Return a command of which nothing is known yet."""
    return cmd.Command(player, action, AT, seed_of("bans"))


def test_a_ban_is_set_and_lifted() -> None:
    """Each is a ruling with the operator's words; neither happens twice."""
    events: list[Event] = []
    for banned, kind, again in (
        (True, PlayerBanned, Refusal.ALREADY_BANNED),
        (False, PlayerReinstated, Refusal.NOT_BANNED),
    ):
        events.append(decide_ban(banned=is_banned(events), command=replace(BAN, banned=banned)))
        assert events[-1] == kind(PLAYERS[0], "cheated", "RULE-1", AT)
        assert is_banned(events) is banned
        with pytest.raises(RefusedError) as refused:
            decide_ban(banned=is_banned(events), command=replace(BAN, banned=banned))
        assert (refused.value.reason, refused.value.rule) == (again, "RULE-1")


@pytest.mark.parametrize(
    ("known", "reason", "rule"),
    [("elsewhere", Refusal.IN_ANOTHER_HAND, "FINE-6"), ("banned", Refusal.BANNED, "RULE-1")],
)
def test_who_may_not_play_neither_sits_down_nor_gets_ready(known: str, reason: Refusal, rule: str) -> None:
    """He may take his readiness back and stand up, though."""
    game = four_ready()
    game.act(PLAYERS[4], cmd.StandUp())
    for player, action in ((PLAYERS[4], cmd.SitDown(4)), (PLAYERS[0], READY)):
        one = frozenset({player})
        asked = replace(command(player, action), **{known: one})  # type: ignore[arg-type]
        with pytest.raises(RefusedError) as refused:
            decide(game.table, asked)
        assert (refused.value.reason, refused.value.rule) == (reason, rule)
    for still in (cmd.SetReady(ready=False), cmd.StandUp()):
        decide(game.table, replace(command(PLAYERS[0], still), **{known: frozenset({PLAYERS[0]})}))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("known", "reason", "rule"),
    [
        ("elsewhere", UnseatingReason.IN_ANOTHER_HAND, "FINE-6"),
        ("banned", UnseatingReason.BANNED, "RULE-1"),
    ],
)
def test_the_fifth_to_get_ready_unseats_who_may_not_play(known: str, reason: UnseatingReason, rule: str) -> None:
    """The caller is ready, no hand begins; the ruling rests on the other's readiness and names no deadline."""
    game = four_ready()
    asked = replace(command(PLAYERS[4], READY), **{known: frozenset({PLAYERS[1], NOT_SEATED})})  # type: ignore[arg-type]
    (unseated, ready), (*_, after) = decide(game.table, asked)
    assert isinstance(unseated, PlayerUnseated)
    assert (unseated.seat, unseated.player, unseated.reason, unseated.rule) == (1, PLAYERS[1], reason, rule)
    assert (unseated.due_at, unseated.closes_at) == ("", "")
    assert [type(game.events[version - 1]) for version in unseated.rests_on] == [ReadinessSet]
    assert isinstance(ready, ReadinessSet)
    assert seat_of(after, PLAYERS[1]) is None
    assert after.hand is None
    game.act(PLAYERS[4], READY)
    assert game.of(HandStarted)
