"""What is recorded of a player's line: FINE-5, RULE-1."""

from baohuang.rules import commands as cmd
from baohuang.rules.clock import later
from baohuang.rules.events import ConnectionLost, ConnectionRestored, TrusteeshipEntered
from baohuang.rules.phases.asking import seats_to_act
from baohuang.rules.refusals import Refusal
from baohuang.rules.state import Instant, Phase
from rules.playing import AT, CLOCK, ENTHRONE, NOTHING, PASS, PLAYERS, Game, given, play
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


def expired(game: Game, *lost: cmd.LostLine, watching: tuple[int, ...] = ()) -> list[TrusteeshipEntered]:
    """Return the rulings of the deadline, whose command knows so much of the players' lines."""
    before, due_at = len(game.of(TrusteeshipEntered)), game.hand.due_at
    game.at = due_at
    game.act(CLOCK, cmd.ExpireDeadline(due_at, lost, watching))
    return game.of(TrusteeshipEntered)[before:]


def test_a_ruling_carries_the_reading_that_held_when_it_was_decided() -> None:
    """FINE-5, RULE-1: a second loss in a turn, which the log does not hold, beside the version of the return."""
    game = begun()
    game.when((0, cmd.ReportConnection(0, connected=False)), (0, cmd.ReportConnection(0, connected=True)))
    turn, returned = game.hand.turn_version, game.hand.connections[0].version
    (ruling,) = expired(game, cmd.LostLine(0, later(AT, 70)))
    assert (ruling.seat, ruling.connection_lost_at, ruling.rests_on) == (0, later(AT, 70), (turn, returned))


def test_a_recorded_loss_stands_before_the_reading() -> None:
    """FINE-5: since when the line is lost, the log says first."""
    game = begun().when((0, cmd.ReportConnection(0, connected=False)))
    (ruling,) = expired(game, cmd.LostLine(0, later(AT, 70)))
    assert ruling.connection_lost_at == later(AT, 60)


def test_who_is_known_to_be_back_is_not_lost() -> None:
    """FINE-5, RULE-1: the other way round, a return that the log does not hold."""
    game = begun().when((0, cmd.ReportConnection(0, connected=False)))
    turn, loss = game.hand.turn_version, game.hand.connections[0].version
    (ruling,) = expired(game, watching=(0,))
    assert (ruling.connection_lost_at, ruling.rests_on) == ("", (turn, loss))


def test_a_reading_is_of_one_seat() -> None:
    """FINE-5: where several seats run out of time each ruling has its own; one that acted in time has none."""
    game = given("ourgame-simple", *HANDS).when((0, ENTHRONE))
    assert game.hand.phase is Phase.DECLARE
    game.when((1, NOTHING))
    asked = seats_to_act(game.hand)
    rulings = expired(game, cmd.LostLine(1, later(AT, 1)), cmd.LostLine(3, later(AT, 2)))
    assert [ruling.seat for ruling in rulings] == list(asked) == [0, 2, 3, 4]
    assert [ruling.connection_lost_at for ruling in rulings] == ["", "", later(AT, 2), ""]
