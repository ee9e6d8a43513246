"""Who keeps others waiting loses his seat, and an abandoned table closes: TABLE-1."""

from collections.abc import Sequence

import pytest

from baohuang.rules import commands as cmd
from baohuang.rules.clock import NEVER, deadline_of, later
from baohuang.rules.events import (
    HandFinished,
    HandStarted,
    PlayerSat,
    PlayerStood,
    PlayerUnseated,
    ReadinessSet,
    TableClosed,
    TableDissolved,
    TableOpened,
)
from baohuang.rules.evolve import fold
from baohuang.rules.refusals import Refusal, RefusedError
from baohuang.rules.rulesets import Options
from baohuang.rules.seating import ABANDONED_SECONDS, READY_SECONDS, WAITING_SECONDS
from baohuang.rules.state import ClosingReason, PlayerId, TableId, TableStatus, UnseatingReason
from rules.playing import (
    AT,
    CLOCK,
    ENTHRONE,
    OPERATOR,
    PASS,
    PLAYERS,
    TRUSTEE,
    Game,
    given,
    given_deal,
    given_table,
    play,
)

READY = cmd.SetReady(ready=True)
NOT_READY = cmd.SetReady(ready=False)
STAND = cmd.StandUp()


def opened() -> Game:
    """Return a table just opened, nobody at it."""
    game = Game("t", None)
    game.act(OPERATOR, cmd.OpenTable(TableId("t"), "ourgame-simple", Options()))
    return game


def finished() -> Game:
    """Return a table whose first hand is over."""
    game = given("ourgame-simple", "4s", "SJ*", "2s", "BJ*", "Ks Kd").when((3, ENTHRONE)).quiet()
    return game.when((3, play("BJ*"))).all_pass().when((4, play("Ks")), (0, PASS), (1, play("SJ*")))


def unseated(game: Game) -> Sequence[tuple[int, UnseatingReason]]:
    """Return who lost his seat, and why, in order."""
    return [(event.seat, event.reason) for event in game.of(PlayerUnseated)]


def test_who_sits_without_getting_ready_is_unseated() -> None:
    """At 120 s, not before; the ruling names clause, readings and what it rests on; he may sit down again."""
    game = opened()
    game.wait(5).act(PLAYERS[0], cmd.SitDown(2))
    due_at = later(AT, 5 + READY_SECONDS)
    assert (game.last(PlayerSat).due_at, game.table.seats[2].due_at, deadline_of(game.table)) == (due_at,) * 3
    game.wait(READY_SECONDS - 1)
    assert game.refused(2, cmd.ExpireDeadline(due_at)) is Refusal.NOT_DUE
    game.wait(3).act(CLOCK, cmd.ExpireDeadline(due_at))
    ruling = game.last(PlayerUnseated)
    assert (ruling.seat, ruling.player, ruling.reason) == (2, PLAYERS[0], UnseatingReason.NOT_READY)
    assert (ruling.rule, ruling.due_at, ruling.decided_at) == ("TABLE-1", due_at, later(due_at, 2))
    assert [type(game.events[version - 1]) for version in ruling.rests_on] == [PlayerSat]
    assert game.table.seats == opened().table.seats
    game.act(PLAYERS[0], cmd.SitDown(2))
    assert game.table.seats[2].due_at == later(game.at, READY_SECONDS)


def test_who_is_ready_waits_an_hour() -> None:
    """Then he is unseated as well, though it was not his fault: WAITED_TOO_LONG, resting on his readiness."""
    game = opened()
    game.act(PLAYERS[0], cmd.SitDown(0))
    game.wait(100).act(PLAYERS[0], READY)
    assert deadline_of(game.table) == game.last(ReadinessSet).due_at == later(AT, 100 + WAITING_SECONDS)
    game.expire()
    assert unseated(game) == [(0, UnseatingReason.WAITED_TOO_LONG)]
    assert [type(game.events[version - 1]) for version in game.last(PlayerUnseated).rests_on] == [ReadinessSet]


def test_taking_readiness_back_starts_the_two_minutes_anew() -> None:
    """Since then, not since he sat."""
    game = opened()
    game.act(PLAYERS[0], cmd.SitDown(0))
    game.wait(50).act(PLAYERS[0], READY)
    game.wait(50).act(PLAYERS[0], NOT_READY)
    assert game.table.seats[0].due_at == later(AT, 100 + READY_SECONDS)
    assert game.expire().last(PlayerUnseated).reason is UnseatingReason.NOT_READY


@pytest.mark.parametrize("action", [READY, NOT_READY])
def test_saying_the_same_again_gains_no_time(action: cmd.SetReady) -> None:
    """The deadline stays, and rests on the event that set it first."""
    game = opened()
    game.act(PLAYERS[0], cmd.SitDown(0))
    game.act(PLAYERS[0], READY)
    if not action.ready:
        game.wait(1).act(PLAYERS[0], NOT_READY)
    before = game.table.seats[0]
    game.wait(60).act(PLAYERS[0], action)
    assert (game.table.seats[0].due_at, game.table.seats[0].due_version) == (before.due_at, before.due_version)


def test_each_sitter_has_his_own_deadline() -> None:
    """The earliest is the table's; those who share one are unseated together, the others stay."""
    game = opened()
    for seat in (0, 1):
        game.act(PLAYERS[seat], cmd.SitDown(seat))
    game.wait(10).act(PLAYERS[2], cmd.SitDown(2))
    game.act(PLAYERS[1], READY)
    game.expire()
    assert unseated(game) == [(0, UnseatingReason.NOT_READY)]
    assert game.last(PlayerUnseated).closes_at == NEVER
    game.expire()
    assert unseated(game)[1:] == [(2, UnseatingReason.NOT_READY)]
    assert [taken.player for taken in game.table.seats] == ["", PLAYERS[1], "", "", ""]


def test_a_deadline_that_moved_is_not_due() -> None:
    """NOT_DUE for one that was, one that is somebody's but not the next, for none, and before there is a table."""
    game = opened()
    game.act(PLAYERS[0], cmd.SitDown(0))
    first = deadline_of(game.table)
    game.wait(5).act(PLAYERS[1], cmd.SitDown(1))
    later_one = game.table.seats[1].due_at
    game.act(PLAYERS[0], READY)
    game.wait(READY_SECONDS)
    for due_at in (first, game.table.seats[0].due_at, NEVER):
        with pytest.raises(RefusedError) as refused:
            game.act(CLOCK, cmd.ExpireDeadline(due_at))
        assert refused.value.reason is Refusal.NOT_DUE
    game.act(CLOCK, cmd.ExpireDeadline(later_one))
    with pytest.raises(RefusedError) as none_there:
        Game("n", None).act(CLOCK, cmd.ExpireDeadline(first))
    assert none_there.value.reason is Refusal.NO_SUCH_TABLE


def test_a_hand_takes_the_sitters_deadlines_away() -> None:
    """While it is played only the turn's counts; after it all five have two minutes to get ready again."""
    game = given_deal("ourgame-simple")
    assert all(not taken.due_at for taken in game.table.seats)
    assert deadline_of(game.table) == game.hand.due_at
    game = finished()
    due_at = later(AT, READY_SECONDS)
    assert {taken.due_at for taken in game.table.seats} == {due_at} == {game.last(HandFinished).due_at}
    game.act(PLAYERS[3], READY)
    game.expire()
    assert unseated(game) == [(seat, UnseatingReason.NOT_READY) for seat in (0, 1, 2, 4)]
    # This game's history begins with its hand, at version 0.
    assert [type(game.events[version]) for version in game.last(PlayerUnseated).rests_on] == [HandFinished]


def test_five_in_time_start_the_next_hand() -> None:
    """A hand that begins leaves no old deadline behind: it is not due any more."""
    game = finished()
    due_at = deadline_of(game.table)
    for player in PLAYERS:
        game.act(player, READY)
    game.wait(READY_SECONDS + 1)
    with pytest.raises(RefusedError) as refused:
        game.act(CLOCK, cmd.ExpireDeadline(due_at))
    assert refused.value.reason is Refusal.NOT_DUE


def test_a_table_that_is_dissolved_waits_for_nobody() -> None:
    """TRUST-4 leaves no sitter, and nothing is due."""
    game = given("ourgame-simple", "4s", "SJ*", "2s", "BJ*", "Ks Kd").when((3, ENTHRONE)).quiet()
    game.when((0, TRUSTEE), (3, play("BJ*"))).all_pass().when((4, play("Ks")), (1, play("SJ*")))
    assert game.of(TableDissolved)
    assert (game.last(HandFinished).due_at, deadline_of(game.table)) == (NEVER, NEVER)


def test_a_table_at_which_nobody_ever_sat_closes() -> None:
    """At 600 s since it was opened: ABANDONED, by TABLE-1, resting on its opening; nothing can be done there then."""
    game = opened()
    assert deadline_of(game.table) == game.last(TableOpened).closes_at == later(AT, ABANDONED_SECONDS)
    game.expire()
    ruling = game.last(TableClosed)
    assert (ruling.reason, ruling.rule, ruling.note) == (ClosingReason.ABANDONED, "TABLE-1", "")
    assert (ruling.decided_at, ruling.rests_on) == (later(AT, ABANDONED_SECONDS), (1,))
    assert (game.table.status, deadline_of(game.table)) == (TableStatus.CLOSED, NEVER)
    with pytest.raises(RefusedError) as refused:
        game.act(PLAYERS[0], cmd.SitDown(0))
    assert (refused.value.reason, refused.value.rule) == (Refusal.TABLE_CLOSED, "TABLE-1")


@pytest.mark.parametrize("left", ["stood", "unseated"])
def test_a_table_whose_last_sitter_went_closes(left: str) -> None:
    """At 600 s since he left his seat, whichever way; who comes back in time keeps it open."""
    game = opened()
    game.act(PLAYERS[0], cmd.SitDown(0))
    game.act(PLAYERS[1], cmd.SitDown(1))
    assert game.table.closes_at == NEVER
    game.act(PLAYERS[0], STAND)
    assert (game.last(PlayerStood).closes_at, game.table.closes_at) == (NEVER, NEVER)
    if left == "stood":
        game.wait(7).act(PLAYERS[1], STAND)
    else:
        game.expire()
    closes_at = later(game.at, ABANDONED_SECONDS)
    assert (game.table.closes_at, deadline_of(game.table)) == (closes_at, closes_at)
    game.wait(ABANDONED_SECONDS - 1).act(PLAYERS[0], cmd.SitDown(4))
    assert game.table.closes_at == NEVER
    game.act(PLAYERS[0], STAND)
    game.expire()
    assert game.table.status is TableStatus.CLOSED
    assert [type(game.events[version - 1]) for version in game.last(TableClosed).rests_on] == [PlayerStood]


def test_a_log_of_before_has_no_deadlines() -> None:
    """Events without these fields mean as before: nobody is unseated, no table closes."""
    game = opened()
    game.act(PLAYERS[0], cmd.SitDown(0))
    old = fold((TableOpened(TableId("t"), "ourgame-simple", Options(), OPERATOR), PlayerSat(0, PLAYERS[0])))
    assert old is not None
    assert deadline_of(old) == NEVER
    assert old.seats[0].player == PlayerId("player-0")


def test_hand_after_hand_is_rebuilt_from_its_beginning() -> None:
    """What is due survives neither more nor less in a rebuild from HandStarted than in one from the first event."""
    game = given_table("ourgame-simple")
    game.wait(3).act(PLAYERS[0], STAND)
    game.act(PLAYERS[0], cmd.SitDown(0))
    for player in PLAYERS:
        game.wait(1).act(player, READY)
    start = next(index for index, event in enumerate(game.events) if isinstance(event, HandStarted))
    assert fold(game.events) == fold(game.events[start:]) == game.table
