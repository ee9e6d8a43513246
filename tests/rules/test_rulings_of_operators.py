"""What an operator may order: a hand is void, a table is closed (RULE-1)."""

import pytest

from baohuang.rules import commands as cmd
from baohuang.rules.clock import NEVER, later
from baohuang.rules.events import (
    HandFinished,
    HandStarted,
    HandVoided,
    SeedCommitted,
    TableClosed,
    TableDissolved,
    TributePaid,
)
from baohuang.rules.evolve import fold
from baohuang.rules.refusals import Refusal, RefusedError
from baohuang.rules.seating import READY_SECONDS
from baohuang.rules.state import ClosingReason, Phase, TableStatus
from bench.random_player import RandomPlayer, chance_of, mood_of
from rules.playing import (
    AT,
    ENTHRONE,
    FORFEIT,
    OPERATOR,
    PASS,
    PLAYERS,
    RULESET_NAMES,
    TRUSTEE,
    YIELD,
    Game,
    all_ready,
    given,
    given_deal,
    given_table,
    play,
)
from rules.witness import Witness

VOID = cmd.VoidHand("the lights went out")
CLOSE = cmd.CloseTable("tournament over")
READY = cmd.SetReady(ready=True)


def void(game: Game) -> HandFinished:
    """Let an operator void the hand, under a witness's eyes, and return how it ended."""
    before, witness = game.table, Witness()
    witness.decided(None, tuple(game.events), before)
    witness.decided(before, game.act(OPERATOR, VOID), game.table)
    return game.last(HandFinished)


def refusal(game: Game, action: cmd.Action) -> tuple[Refusal, str]:
    """Return why the operator's command is refused, and by which clause."""
    before = list(game.events)
    with pytest.raises(RefusedError) as refused:
        game.act(OPERATOR, action)
    assert game.events == before
    return refused.value.reason, refused.value.rule


def test_a_hand_is_voided_before_there_is_an_emperor() -> None:
    """The ruling carries the operator's words and rests on the turn; no points, no places, no emperor; all is open."""
    game = given_deal("ourgame-simple")
    turn = game.hand.turn_version
    finished = void(game)
    ruling = game.last(HandVoided)
    assert (ruling.rule, ruling.note, ruling.trustees) == ("RULE-1", "the lights went out", ())
    assert (ruling.decided_at, ruling.rests_on) == (AT, (turn,))
    assert (finished.places, finished.points, finished.void) == ((), (0,) * 5, True)
    assert (finished.emperor, finished.guard, finished.solo) == (None, None, None)
    assert finished.due_at == later(AT, READY_SECONDS)
    assert len(finished.seeds) == 1
    assert game.hand.phase is Phase.SETTLED
    assert game.last(SeedCommitted).hand == 2


def test_the_crown_and_what_is_pasted_to_it_go_back() -> None:
    """CROWN-2: they are in nobody's hand; the end of the hand shows every card where it came from."""
    game = given("ourgame-simple", "BJ* 9s", "2s 4c", "SJ* 2h", "2d 6c", "2c 7c")
    dealt = tuple(tuple(sorted(game.hand.hands[seat])) for seat in (1, 2, 3, 4))
    game.when((0, YIELD), (4, YIELD), (3, YIELD))
    assert game.hand.offer is not None
    assert len(game.hand.offer.pile) == 2
    left = {held.seat: tuple(sorted(held.cards)) for held in void(game).hands}
    assert left[0] == ("9s", "BJ*")
    assert tuple(left[seat] for seat in (1, 2, 3, 4)) == dealt
    assert game.hand.offer is None


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_a_hand_is_voided_in_every_phase(ruleset: str) -> None:
    """Nobody's view holds anything that the fold of what he was told does not; no card is lost (tribute's are paid)."""
    player, phases = RandomPlayer(chance := chance_of("voided", ruleset), mood_of(chance)), set()
    game = given_deal(ruleset, name=f"voided/{ruleset}")
    while True:
        answered = sum(answer is not None for answer in game.hand.answers)
        if (game.hand.phase, answered) not in phases:
            phases.add((game.hand.phase, answered))
            copy = Game(f"{game.name}/{len(phases)}", game.table, tuple(game.events))
            void(copy)
            assert fold(copy.events) == copy.table
            assert set(copy.hand.answers) == {None}
        if game.hand.phase is Phase.PLAY:
            break
        game.when(player.line(game.table))
    assert {Phase.CROWN, Phase.PLAY} < {phase for phase, _ in phases}
    assert any(answered for _, answered in phases), "no answer was waiting for the others"


def test_a_hand_is_voided_while_tribute_is_returned() -> None:
    """TRIB-1: what was paid stays paid; there is no emperor yet."""
    game = given_table("homy-qingdao", name="tribute")
    chance = chance_of("tribute", "void")
    while not game.of(TributePaid):
        all_ready(game)
        player = RandomPlayer(chance, mood_of(chance))
        while game.hand.phase not in {Phase.SETTLED, Phase.TRIBUTE}:
            game.when(player.line(game.table))
    before = game.table.previous
    assert before is not None
    finished = void(game)
    assert finished.emperor is None
    assert game.table.previous is not None
    assert (game.table.previous.emperor, game.table.previous.pays_tribute) == (before.emperor, False)


def test_without_an_emperor_the_last_one_deals_again() -> None:
    """DEAL-1, TRIB-1: a void hand pays no tribute; before any emperor seat 0 deals."""
    first = given_deal("homy-qingdao")
    void(first)
    assert first.table.previous is None
    assert all_ready(first).last(HandStarted).dealer == 0
    game = given("ourgame-simple", "4s", "SJ*", "2s", "BJ*", "Ks Kd").when((3, ENTHRONE)).quiet()
    game.when((3, play("BJ*"))).all_pass().when((4, play("Ks")), (0, PASS), (1, play("SJ*")))
    all_ready(game)
    void(game)
    assert game.table.previous is not None
    assert (game.table.previous.emperor, game.table.previous.pays_tribute) == (3, False)
    assert all_ready(game).last(HandStarted).dealer == 3


def test_with_an_emperor_he_deals_next() -> None:
    """DEAL-1: he was emperor, though his hand is void."""
    game = given("homy-standard", "BJ* 9s", "2s 4c", "SJ* 2h", "2d 6c", "2c 7c").when((0, YIELD), (4, ENTHRONE))
    finished = void(game)
    assert (finished.emperor, finished.guard, finished.solo) == (4, 2, None)
    assert all_ready(game).last(HandStarted).dealer == 4


def test_a_void_hand_with_a_trustee_dissolves_the_table() -> None:
    """TRUST-4 as at any end; the ruling names the trustees; fines stand."""
    game = given("ourgame-simple", "BJ* 9s", "2s 4c", "SJ* 2h", "2d 6c", "2c 7c").when((1, TRUSTEE), (2, FORFEIT))
    finished = void(game)
    assert (game.last(HandVoided).trustees, finished.due_at) == ((1, 2), NEVER)
    assert game.last(TableDissolved).trustees == (1, 2)
    assert game.hand.fines[2] == -20


def test_only_a_hand_that_is_played_can_be_voided() -> None:
    """WRONG_PHASE before the first and after the last."""
    game = given_table("ourgame-simple")
    assert refusal(game, VOID)[0] is Refusal.WRONG_PHASE
    void(all_ready(game))
    assert refusal(game, VOID) == (Refusal.WRONG_PHASE, "RULE-1")


def test_an_operator_closes_a_table() -> None:
    """BY_OPERATOR with his words; everybody is off his seat; for good."""
    game = given_table("ourgame-simple")
    game.act(PLAYERS[0], READY)
    game.act(OPERATOR, CLOSE)
    ruling = game.last(TableClosed)
    assert (ruling.reason, ruling.note, ruling.rule) == (ClosingReason.BY_OPERATOR, "tournament over", "RULE-1")
    assert (ruling.decided_at, ruling.rests_on) == (AT, ())
    assert game.table.status is TableStatus.CLOSED
    assert not any(taken.player for taken in game.table.seats)
    assert refusal(game, CLOSE)[0] is Refusal.TABLE_CLOSED
    assert refusal(game, cmd.SitDown(0))[0] is Refusal.TABLE_CLOSED


def test_a_table_is_not_closed_during_a_hand() -> None:
    """HAND_IN_PROGRESS: the hand is voided first."""
    game = given_deal("ourgame-simple")
    assert refusal(game, CLOSE) == (Refusal.HAND_IN_PROGRESS, "TABLE-1")
    void(game)
    game.act(OPERATOR, CLOSE)
    assert game.table.status is TableStatus.CLOSED
