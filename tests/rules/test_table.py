"""The table around its hands: TABLE-1, DEAL-1, FAIR-1, and who may do what there."""

import pytest

from baohuang.rules import commands as cmd
from baohuang.rules.events import HandStarted, PlayerStood, ReadinessSet, SeedCommitted
from baohuang.rules.refusals import Refusal, RefusedError
from baohuang.rules.rulesets import Options
from baohuang.rules.state import NOBODY, PlayerId, TableId
from rules.playing import ENTHRONE, OPERATOR, PASS, PLAYERS, Game, all_ready, given, given_deal, given_table, play

READY = cmd.SetReady(ready=True)


def refusal(game: Game, player: str, action: cmd.Action) -> Refusal:
    """Return why the player's command is refused."""
    before = list(game.events)
    with pytest.raises(RefusedError) as refused:
        game.act(PlayerId(player), action)
    assert game.events == before
    return refused.value.reason


def test_a_table_opens_once() -> None:
    """TABLE-1: there is no table before, and no second one of the same id."""
    game = Game("t", None)
    assert refusal(game, "player-0", cmd.SitDown(0)) is Refusal.NO_SUCH_TABLE
    assert refusal(game, "player-0", READY) is Refusal.NO_SUCH_TABLE
    assert refusal(game, "player-0", PASS) is Refusal.NO_SUCH_TABLE
    game.act(OPERATOR, cmd.OpenTable(TableId("t"), "homy-standard", Options()))
    assert refusal(game, "operator", cmd.OpenTable(TableId("t"), "homy-standard", Options())) is Refusal.TABLE_EXISTS


def test_players_sit_where_they_like() -> None:
    """TABLE-1: one seat a player, one player a seat, seats 0 to 4."""
    game = Game("t", None)
    game.act(OPERATOR, cmd.OpenTable(TableId("t"), "homy-standard", Options()))
    game.act(PLAYERS[0], cmd.SitDown(3))
    assert refusal(game, PLAYERS[0], cmd.SitDown(2)) is Refusal.ALREADY_SEATED
    assert refusal(game, PLAYERS[1], cmd.SitDown(3)) is Refusal.SEAT_TAKEN
    assert refusal(game, PLAYERS[1], cmd.SitDown(5)) is Refusal.NO_SUCH_SEAT
    assert refusal(game, PLAYERS[1], cmd.SitDown(-1)) is Refusal.NO_SUCH_SEAT
    assert refusal(game, PLAYERS[1], cmd.StandUp()) is Refusal.NOT_SEATED
    assert refusal(game, PLAYERS[1], READY) is Refusal.NOT_SEATED
    game.act(PLAYERS[0], cmd.StandUp())
    assert game.last(PlayerStood).seat == 3
    assert game.table.seats[3].player == NOBODY


def test_five_ready_players_start_a_hand() -> None:
    """TABLE-1: four do not; who took it back is not ready; who stood up is not either."""
    game = given_table("homy-standard")
    for seat in (0, 1, 2, 3, 4):
        game.act(PLAYERS[seat], READY)
        if seat == 3:
            game.act(PLAYERS[0], cmd.SetReady(ready=False))
    assert game.of(HandStarted) == []
    game.act(PLAYERS[1], cmd.StandUp())
    game.act(PLAYERS[0], READY)
    assert game.of(HandStarted) == []
    game.act(PlayerId("a sixth"), cmd.SitDown(1))
    game.act(PlayerId("a sixth"), READY)
    started = game.last(HandStarted)
    assert started.players == (PLAYERS[0], "a sixth", *PLAYERS[2:])
    assert (started.hand, started.dealer, started.previous) == (1, 0, None)


def test_during_a_hand_nobody_stands_up_or_gets_ready() -> None:
    """TABLE-1: leaving in a hand is another thing (FINE-1)."""
    game = given_deal("homy-standard")
    assert refusal(game, PLAYERS[0], cmd.StandUp()) is Refusal.HAND_IN_PROGRESS
    assert refusal(game, PLAYERS[0], READY) is Refusal.HAND_IN_PROGRESS
    assert refusal(game, "a sixth", cmd.SitDown(0)) is Refusal.SEAT_TAKEN
    assert refusal(game, "a sixth", PASS) is Refusal.NOT_SEATED
    assert refusal(game, "a sixth", cmd.ForfeitSeat()) is Refusal.NOT_SEATED


def test_after_a_hand_all_must_be_ready_again() -> None:
    """TABLE-1, DEAL-1: the last hand's emperor deals the next; the seed for it is committed as the hand ends."""
    game = given("ourgame-simple", "4s", "SJ*", "2s", "BJ*", "Ks Kd").when((3, ENTHRONE)).quiet()
    game.when((3, play("BJ*"))).all_pass().when((4, play("Ks")), (0, PASS), (1, play("SJ*")))
    assert game.last(SeedCommitted).hand == 2
    assert not any(seat.ready for seat in game.table.seats)
    all_ready(game)
    started = game.last(HandStarted)
    assert (started.hand, started.dealer) == (2, 3)
    assert started.commitment == game.last(SeedCommitted).commitment
    assert started.previous is not None
    assert started.previous.places[:2] == (3, 1)
    assert len(game.of(ReadinessSet)) == 5


def test_no_move_before_the_first_hand() -> None:
    """Section 3: seated is not playing."""
    game = given_table("homy-standard")
    for action in (PASS, cmd.Enthrone(), cmd.RequestTrusteeship(), cmd.LeaveTable(), cmd.ForfeitSeat()):
        assert refusal(game, PLAYERS[0], action) is Refusal.WRONG_PHASE
    assert refusal(game, OPERATOR, cmd.KickPlayer(0)) is Refusal.WRONG_PHASE
    assert refusal(game, OPERATOR, cmd.ExpireTurn(0)) is Refusal.WRONG_PHASE
    assert refusal(game, OPERATOR, cmd.KickPlayer(5)) is Refusal.NO_SUCH_SEAT
