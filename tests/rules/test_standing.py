"""Trusteeship, leaving and fines: TRUST-1..4, FINE-1..4, RULE-1."""

import pytest

from baohuang.rules import commands as cmd
from baohuang.rules.events import (
    Answered,
    CardsPlayed,
    HandFinished,
    HandVoided,
    Passed,
    PlayerFined,
    SeedCommitted,
    TableDissolved,
    TrusteeshipEntered,
    TrusteeshipMadePermanent,
)
from baohuang.rules.refusals import Refusal, RefusedError
from baohuang.rules.rulesets import Options
from baohuang.rules.state import FineReason, Phase, PlayerId, TableStatus, TrusteeshipReason
from rules.playing import (
    AT,
    CANCEL,
    ENTHRONE,
    FORFEIT,
    LEAVE,
    NO_SEIZE,
    NOTHING,
    OPEN_SOLO,
    OPERATOR,
    PASS,
    PLAYERS,
    RULESET_NAMES,
    SEIZE,
    TRUSTEE,
    YIELD,
    Game,
    all_ready,
    call,
    given,
    given_deal,
    play,
)
from rules.test_play import HANDS, playing


def trustees(game: Game) -> list[int]:
    """Return the seats in trusteeship."""
    return [seat for seat, standing in enumerate(game.hand.trusteeships) if standing.active]


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (cmd.ExpireTurn(0), TrusteeshipReason.TIMEOUT),
        (TRUSTEE, TrusteeshipReason.REQUESTED),
        (LEAVE, TrusteeshipReason.LEFT),
        (FORFEIT, TrusteeshipReason.FORFEITED),
    ],
)
def test_a_seat_enters_trusteeship_and_is_played_at_once(action: cmd.Action, reason: TrusteeshipReason) -> None:
    """TRUST-1, TRUST-2, RULE-1: the ruling says why and when; whoever has to act acts before anything else."""
    game = playing().when((0, action))
    ruling = game.last(TrusteeshipEntered)
    assert (ruling.seat, ruling.player, ruling.reason, ruling.entry) == (0, PLAYERS[0], reason, 1)
    assert (ruling.decided_at, ruling.rule) == (AT, "FINE-2" if action == FORFEIT else "TRUST-1")
    assert game.last(CardsPlayed).cards == ("3c",)
    assert (game.last(CardsPlayed).automatic, game.hand.turn) == (True, 1)


def test_only_who_has_to_act_runs_out_of_time() -> None:
    """TRUST-1: a timeout of another seat is answered like an act of that seat."""
    game = playing()
    assert game.refused(3, cmd.ExpireTurn(3)) is Refusal.NOT_YOUR_TURN
    declaring = given("ourgame-classic", "BJ* 9s 9s 9s", "9s", "SJ*", "3s", "4s", options=Options(seize=False))
    declaring.when((0, ENTHRONE), (0, call("9s")), (1, NOTHING))
    assert declaring.refused(1, cmd.ExpireTurn(1)) is Refusal.ALREADY_ANSWERED
    assert declaring.refused(0, cmd.ExpireTurn(0)) is Refusal.NOT_ELIGIBLE
    assert declaring.refused(0, cmd.ExpireTurn(7)) is Refusal.NO_SUCH_SEAT
    declaring.when((2, cmd.ExpireTurn(2)))
    assert trustees(declaring) == [2]


def test_a_trustee_who_answers_does_not_act_for_others() -> None:
    """TRUST-2: in a simultaneous phase the trustee says nothing, for his own seat alone."""
    game = given("ourgame-simple", *HANDS).when((0, ENTHRONE), (3, TRUSTEE))
    assert game.hand.phase is Phase.DECLARE
    assert [answer is not None for answer in game.hand.answers] == [False, False, False, True, False]
    assert game.refused(3, NOTHING) is Refusal.ALREADY_ANSWERED


def test_several_trustees_answer_in_seat_order() -> None:
    """TRUST-2: at once when the phase begins, before anybody else can."""
    game = given("ourgame-simple", *HANDS).when((4, TRUSTEE), (2, TRUSTEE), (0, ENTHRONE))
    assert [(event.seat, event.automatic) for event in game.of(Answered)] == [(2, True), (4, True)]


def test_the_trustee_leads_the_lowest_and_otherwise_passes() -> None:
    """TRUST-2, TIE-1: c before s; a trustee never answers a set."""
    game = playing("BJ* 4s 4c 9s", "5s", "SJ* 8s", "6c", "7c").when((0, TRUSTEE), (1, TRUSTEE))
    assert [(event.seat, event.cards) for event in game.of(CardsPlayed)] == [(0, ("4c",))]
    passed = game.last(Passed)
    assert (passed.seat, passed.turn, passed.trick_over, passed.automatic) == (1, 2, False, True)


def test_the_trustee_leads_an_unmarked_joker_before_a_marked() -> None:
    """TRUST-2: when only jokers are left."""
    game = playing("BJ* BJ 3s", "5s 5c", "SJ* 8s", "6c", "7c").when((0, play("3s"))).all_pass().when((0, TRUSTEE))
    assert game.last(CardsPlayed).cards == ("BJ",)


@pytest.mark.parametrize(
    ("own", "led"),
    [("BJ* 6c 6d 7s", ("7s",)), ("BJ* 6c 6d", ("BJ*",)), ("BJ* 6c 2s", ("2s",))],
)
def test_the_trustee_holds_sixes(own: str, led: tuple[str, ...]) -> None:
    """TRUST-2, HOLD-1: the lowest that is legal."""
    options = Options(short_deck=True, hold6=True)
    game = playing(own, "8s", "SJ* 9s", "Th", "Ts", options=options).when((0, TRUSTEE))
    assert game.last(CardsPlayed).cards == led


def test_the_trustee_leads_all_sixes_when_only_they_are_left() -> None:
    """TRUST-2: all at once."""
    game = playing("BJ* 6c 6d", "8s", "SJ* 9s", "Th", "Ts", options=Options(short_deck=True, hold6=True))
    game.when((0, play("BJ*"))).all_pass().when((0, TRUSTEE))
    assert game.last(CardsPlayed).cards == ("6c", "6d")


def test_cancelling_gives_back_every_card_still_in_hand() -> None:
    """TRUST-3: at any time, and the player acts again."""
    game = playing().when((0, TRUSTEE), (0, CANCEL), (1, PASS), (2, PASS), (3, PASS), (4, PASS))
    assert game.hand.hands[0] == playing().hand.hands[0][1:]
    assert trustees(game) == []
    assert game.when((0, play("9s 9h"))).hand.trick.player == 0
    assert not game.last(CardsPlayed).automatic


def test_no_entry_twice_and_no_cancelling_without_one() -> None:
    """TRUST-1, TRUST-3: ALREADY_TRUSTEE also answers leaving; NOT_TRUSTEE a cancel of nothing."""
    game = playing()
    assert game.refused(2, CANCEL) is Refusal.NOT_TRUSTEE
    game.when((2, LEAVE))
    assert {game.refused(2, TRUSTEE), game.refused(2, LEAVE)} == {Refusal.ALREADY_TRUSTEE}


def test_the_fourth_entry_is_permanent() -> None:
    """TRUST-3: three entries are cancelled, whatever their reason; the fourth is not."""
    game = playing().when((1, TRUSTEE), (1, CANCEL), (1, LEAVE), (1, CANCEL), (0, play("3c")))
    game.when((1, cmd.ExpireTurn(1)), (1, CANCEL))
    assert game.of(TrusteeshipMadePermanent) == []
    game.when((1, TRUSTEE))
    ruling = game.last(TrusteeshipMadePermanent)
    assert (ruling.seat, ruling.player, ruling.rule, ruling.decided_at) == (1, PLAYERS[1], "TRUST-3", AT)
    assert game.last(TrusteeshipEntered).entry == 4
    assert game.refused(1, CANCEL) is Refusal.PERMANENT_TRUSTEESHIP


def test_the_next_hand_counts_entries_anew() -> None:
    """TRUST-3: permanent for that hand, and counted in it."""
    game = playing("BJ*", "SJ*", "2s", "As", "Ks").when(*((2, action) for action in (TRUSTEE, CANCEL) * 3))
    game.when((0, play("BJ*"))).all_pass().when((1, play("SJ*")))
    all_ready(game).when(*((2, action) for action in (TRUSTEE, CANCEL) * 3))
    assert game.hand.number == 2
    assert game.of(TrusteeshipMadePermanent) == []
    assert game.when((2, TRUSTEE)).last(TrusteeshipMadePermanent).seat == 2


def test_leaving_costs_nothing_and_the_seat_is_kept() -> None:
    """FINE-1: he may come back until the hand ends."""
    game = playing().when((3, LEAVE))
    assert game.of(PlayerFined) == []
    assert game.hand.fines == (0, 0, 0, 0, 0)
    assert game.player_of(3) == PLAYERS[3]
    assert trustees(game.when((3, CANCEL))) == []


@pytest.mark.parametrize(
    ("actor", "action", "reason"),
    [(PLAYERS[3], FORFEIT, "FORFEITED"), (OPERATOR, cmd.KickPlayer(3), "KICKED")],
)
def test_forfeit_and_kick_fine_at_once_and_for_good(actor: PlayerId, action: cmd.Action, reason: str) -> None:
    """FINE-2, RULE-1: the fine says what it rests on; other seats are unaffected; the player cannot come back."""
    game = playing()
    game.act(actor, action)
    fine = game.last(PlayerFined)
    assert (fine.seat, fine.player, fine.points, fine.roles_settled) == (3, PLAYERS[3], -40, True)
    assert (fine.reason, fine.rule, fine.decided_at) == (FineReason[reason], "FINE-3", AT)
    assert game.last(TrusteeshipEntered).reason is TrusteeshipReason[reason]
    assert game.hand.fines == (0, 0, 0, -40, 0)
    assert trustees(game) == [3]
    assert game.refused(3, CANCEL) is Refusal.PERMANENT_TRUSTEESHIP
    assert game.refused(3, FORFEIT) is Refusal.ALREADY_FORFEITED
    assert game.refused(3, LEAVE) is Refusal.ALREADY_TRUSTEE
    with pytest.raises(RefusedError) as again:
        game.act(OPERATOR, cmd.KickPlayer(3))
    assert again.value.reason is Refusal.ALREADY_FORFEITED


def test_a_trustee_who_forfeits_is_fined_and_stays_one_for_good() -> None:
    """FINE-2: no second entry; the one there is becomes permanent."""
    game = playing().when((3, TRUSTEE), (3, FORFEIT))
    assert len(game.of(TrusteeshipEntered)) == 1
    assert game.last(TrusteeshipMadePermanent).rule == "FINE-2"
    assert game.hand.fines[3] == -40
    assert game.refused(3, CANCEL) is Refusal.PERMANENT_TRUSTEESHIP


def test_the_refusal_names_the_clause_that_made_it_permanent() -> None:
    """TRUST-3 or FINE-2: ruled on, so the player can be told why."""
    forfeited = playing().when((3, FORFEIT))
    fourth = playing().when(*((3, action) for action in (TRUSTEE, CANCEL) * 3), (3, TRUSTEE))
    for game, rule in ((forfeited, "FINE-2"), (fourth, "TRUST-3")):
        with pytest.raises(RefusedError) as refused:
            game.when((3, CANCEL))
        assert refused.value.rule == rule


SEIZABLE = ("BJ* 9s 9s 9s", "9s", "SJ* 5s", "6s", "7s")
NO_SEIZES = tuple((seat, NO_SEIZE) for seat in range(5))
SEIZES = tuple((seat, SEIZE if seat == 2 else NO_SEIZE) for seat in range(5))


@pytest.mark.parametrize(
    ("ruleset", "lines", "points"),
    [
        ("homy-standard", (), -20),
        ("homy-standard", ((0, YIELD),), -20),
        ("homy-standard", ((0, ENTHRONE),), -40),
        ("ourgame-simple", (), -20),
        ("ourgame-simple", ((0, ENTHRONE),), -40),
        ("homy-weihai", ((0, ENTHRONE),), -20),
        ("homy-weihai", ((0, ENTHRONE), *NO_SEIZES[:4]), -20),
        ("homy-weihai", ((0, ENTHRONE), *NO_SEIZES), -40),
        ("homy-weihai", ((0, ENTHRONE), *SEIZES), -40),
        ("homy-classic", ((0, ENTHRONE),), -20),
        ("homy-classic", ((0, ENTHRONE), *NO_SEIZES), -20),
        ("homy-classic", ((0, ENTHRONE), *SEIZES), -40),
        ("homy-classic", ((0, ENTHRONE), *NO_SEIZES, (0, call("9s"))), -40),
        ("homy-classic", ((0, ENTHRONE), *NO_SEIZES, (0, OPEN_SOLO)), -40),
        ("homy-classic", ((0, OPEN_SOLO),), -40),
        ("homy-qingdao", ((0, ENTHRONE), *NO_SEIZES), -20),
        ("homy-qingdao", ((0, ENTHRONE), *NO_SEIZES, (0, call("9s"))), -40),
        ("ourgame-classic", ((0, ENTHRONE), *NO_SEIZES), -20),
        ("ourgame-classic", ((0, ENTHRONE), *NO_SEIZES, (0, call("9s"))), -40),
        ("ourgame-classic", ((0, ENTHRONE), *SEIZES), -40),
    ],
)
def test_the_fine_doubles_once_the_roles_are_settled(
    ruleset: str, lines: tuple[tuple[int, cmd.Action], ...], points: int
) -> None:
    """FINE-3: −20 before the first moment at which emperor and guard are both determined, −40 from then on."""
    game = given(ruleset, *SEIZABLE).when(*lines, (4, FORFEIT))
    assert game.last(PlayerFined).points == points
    assert game.last(PlayerFined).roles_settled is (points == -40)


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_a_fine_is_beside_the_points(ruleset: str) -> None:
    """FINE-4: the hand's points sum to zero with or without it."""
    game = given(ruleset, *SEIZABLE).when((4, FORFEIT), *((seat, TRUSTEE) for seat in range(4)))
    assert sum(game.last(HandFinished).points) == 0
    assert game.hand.fines[4] == -20


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_five_trustees_play_a_hand_to_the_end_and_it_is_void(ruleset: str) -> None:
    """TRUST-2, TRUST-4: the hand is not scored and the table dissolved; a whole deck, from the crown on."""
    game = given_deal(ruleset, name=f"trustees/{ruleset}").when(*((seat, TRUSTEE) for seat in range(5)))
    result = game.hand.result
    assert result is not None
    assert (result.void, result.points) == (True, (0, 0, 0, 0, 0))
    assert sorted(result.places) == [0, 1, 2, 3, 4]
    assert (game.last(HandVoided).trustees, game.last(HandVoided).rule) == ((0, 1, 2, 3, 4), "TRUST-4")
    assert game.last(HandFinished).doublings == ()
    assert isinstance(game.events[-1], TableDissolved)
    assert game.table.status is TableStatus.DISSOLVED


def test_one_trustee_at_the_end_dissolves_the_table() -> None:
    """TRUST-4: the hand is scored all the same; nobody gets ready or sits down there again."""
    game = playing("BJ*", "SJ*", "2s", "As", "Ks").when((4, TRUSTEE), (0, play("BJ*"))).all_pass()
    game.when((1, play("SJ*")))
    result = game.hand.result
    assert result is not None
    assert (result.void, result.points) == (False, (6, 3, -3, -3, -3))
    assert (game.last(TableDissolved).trustees, game.last(TableDissolved).rule) == ((4,), "TRUST-4")
    assert game.refused(0, cmd.SetReady(ready=True)) is Refusal.TABLE_CLOSED
    assert game.refused(0, cmd.StandUp()) is Refusal.TABLE_CLOSED
    assert game.of(SeedCommitted) == []


def test_four_trustees_are_no_void_hand() -> None:
    """TRUST-4: only all five."""
    game = playing("BJ*", "SJ*", "2s", "As", "Ks").when(*((seat, TRUSTEE) for seat in (1, 2, 3, 4)), (0, play("BJ*")))
    assert game.of(HandVoided) == []
    assert game.last(HandFinished).points != (0, 0, 0, 0, 0)


def test_a_trustee_who_came_back_in_time_leaves_the_table_open() -> None:
    """TRUST-4: who is in trusteeship when the hand ends, not who was."""
    game = playing("BJ*", "SJ*", "2s", "As", "Ks").when((4, TRUSTEE), (4, CANCEL), (0, play("BJ*"))).all_pass()
    game.when((1, play("SJ*")))
    assert game.of(TableDissolved) == []
    assert game.table.status is TableStatus.OPEN
    assert game.last(SeedCommitted).hand == 2


@pytest.mark.parametrize("action", [TRUSTEE, CANCEL, LEAVE, FORFEIT, cmd.ExpireTurn(0), cmd.KickPlayer(0)])
def test_outside_a_hand_there_is_neither_trusteeship_nor_fine(action: cmd.Action) -> None:
    """FINE-3: before the first hand and after a hand every such verb is refused."""
    game = playing("BJ*", "SJ*", "2s", "As", "Ks").when((0, play("BJ*"))).all_pass().when((1, play("SJ*")))
    assert game.refused(0, action) is Refusal.WRONG_PHASE
