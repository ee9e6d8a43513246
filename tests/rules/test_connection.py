"""What is recorded of a player's line: FINE-5, RULE-1."""

from baohuang.rules import commands as cmd
from baohuang.rules.clock import later
from baohuang.rules.events import ConnectionLost, ConnectionRestored
from baohuang.rules.refusals import Refusal
from baohuang.rules.state import Instant
from rules.playing import AT, ENTHRONE, PASS, PLAYERS, Game, given, play
from rules.test_play import HANDS

LOST = cmd.ReportConnection(2, connected=False)
BACK = cmd.ReportConnection(2, connected=True)


def begun() -> Game:
    """Return a hand whose first seat leads, a minute after it was dealt."""
    return given("ourgame-simple", *HANDS).when((0, ENTHRONE)).quiet().wait(60)


def lost_at(game: Game) -> Instant:
    """Return since when the line of seat 2 is lost."""
    return game.hand.connections[2].lost_at


def test_a_line_is_dated_by_when_it_was_lost_not_by_the_report() -> None:
    """FINE-5: `since`, where given; else, or if that is still to come, the moment of the report."""
    for since, dated in ((later(AT, 50), later(AT, 50)), (later(AT, 61), later(AT, 60)), ("", later(AT, 60))):
        game = begun().when((0, cmd.ReportConnection(2, connected=False, since=Instant(since))))
        assert game.last(ConnectionLost) == ConnectionLost(2, PLAYERS[2], dated)
        assert lost_at(game) == dated
    game.wait(5).when((0, cmd.ReportConnection(2, connected=True, since=later(AT, 62))))
    assert game.last(ConnectionRestored) == ConnectionRestored(2, PLAYERS[2], later(AT, 62))
    assert not lost_at(game)


def test_one_of_each_a_seat_and_turn() -> None:
    """FINE-5: a flapping line cannot flood the log; in the next turn there is room for one of each again."""
    game = begun().when((0, LOST))
    assert game.refused(0, LOST) is Refusal.ALREADY_REPORTED
    game.when((0, BACK))
    assert game.refused(0, BACK) is Refusal.ALREADY_REPORTED
    assert game.refused(0, LOST) is Refusal.ALREADY_REPORTED
    game.when((0, cmd.ReportConnection(3, connected=False)))
    lead = game.hand.hands[0][0]
    game.when((0, play(str(lead))), (0, LOST), (0, BACK), (1, PASS), (0, LOST))
    assert len(game.of(ConnectionLost)) == 4


def test_a_return_needs_a_loss() -> None:
    """FINE-5: what is no news is not recorded."""
    assert begun().refused(0, BACK) is Refusal.ALREADY_REPORTED
