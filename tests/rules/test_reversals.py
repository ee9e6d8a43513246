"""Taking rulings back (RULE-1): a fine, or that a hand is void which was played to its end; once, and nothing else."""

from dataclasses import replace
from typing import Any

import pytest

from baohuang.rules import commands as cmd
from baohuang.rules import events as ev
from baohuang.rules.clock import deadline_of
from baohuang.rules.evolve import fold
from baohuang.rules.refusals import Refusal, RefusedError
from baohuang.rules.rulesets import ruleset_named
from baohuang.rules.settlement import Outcome, doublings, settle
from baohuang.rules.state import ALL_SEATS, Phase, Reversible, Table, TableStatus
from bench.random_player import RandomPlayer, chance_of, mood_of
from rules.playing import (
    AT,
    CANCEL,
    ENTHRONE,
    FORFEIT,
    OPERATOR,
    PLAYERS,
    RULESET_NAMES,
    SURRENDER,
    TRUSTEE,
    Game,
    all_ready,
    given,
    given_deal,
    given_table,
)
from rules.witness import Witness

WHY = "his line was cut by us"
FIVE = ("BJ* 9s", "2s 4c", "SJ* 2h", "2d 6c", "2c 7c")


def version_of(game: Game, kind: type[ev.Event]) -> int:
    """Return the version of the last event of a kind: the game's events are all that its table has."""
    places = [place for place, event in enumerate(game.events, 1) if isinstance(event, kind)]
    return places[-1] + game.table.version - len(game.events)


def reversal(game: Game, version: int) -> cmd.ReverseRuling:
    """Return what an operator asks for who takes back what stands at a version, as the log has it."""
    place = version - 1 - (game.table.version - len(game.events))
    there = 0 <= place < len(game.events)
    return cmd.ReverseRuling(version, WHY, type(game.events[place]).__name__ if there else "")


def reverse(game: Game, version: int) -> ev.Event:
    """Take the ruling at a version back, under a witness's eyes; nothing but that becomes of the table."""
    before, witness = game.table, Witness()
    witness.decided(None, tuple(game.events), before)
    (event,) = game.act(OPERATOR, reversal(game, version))
    witness.decided(before, (event,), game.table)
    assert unmarked(game.table) == unmarked(before)
    assert deadline_of(game.table) == deadline_of(before)
    assert game.table.version == before.version + 1
    return event


def unmarked(table: Table) -> Table:
    """Return the table without what a reversal notes in it: its version, and which rulings were taken back."""
    assert table.hand is not None
    unreversed = tuple(replace(one, reversed_by=0) for one in table.hand.reversible)
    return replace(table, version=0, hand=replace(table.hand, reversible=unreversed))


def refusal(game: Game, action: cmd.Action) -> tuple[Refusal, str]:
    """Return why the operator's command is refused, and by which clause; nothing changes."""
    before, events = game.table, list(game.events)
    with pytest.raises(RefusedError) as refused:
        game.act(OPERATOR, action)
    assert (game.table, game.events) == (before, events)
    return refused.value.reason, refused.value.rule


def five_trustees(ruleset: str = "ourgame-simple", *hands: str) -> Game:
    """Return a hand of which all five are trustees: it is played to its end, and void (TRUST-4)."""
    game = given(ruleset, *(hands or FIVE))
    return game.when(*((seat, TRUSTEE) for seat in ALL_SEATS))


def test_a_fine_is_taken_back_while_the_hand_is_played() -> None:
    """The points come back; turn, clock, trustee, forfeited seat and the fine in the record stay as they are."""
    game = given("ourgame-simple", *FIVE).when((1, FORFEIT))
    fined = version_of(game, ev.PlayerFined)
    assert game.hand.reversible == (Reversible(fined, 1),)
    event = reverse(game, fined)
    assert event == ev.FineReversed(1, PLAYERS[1], 20, fined, WHY, "RULE-1", AT, (fined,))
    assert game.hand.reversible == (Reversible(fined, 1, game.table.version),)
    assert game.hand.fines == (0, -20, 0, 0, 0)
    assert game.refused(1, FORFEIT) is Refusal.ALREADY_FORFEITED
    assert game.refused(1, CANCEL) is Refusal.PERMANENT_TRUSTEESHIP


def test_a_fine_is_taken_back_after_the_table_was_dissolved() -> None:
    """A table that is closed for good takes the ruling back; it neither opens by it nor is dissolved again."""
    game = given("ourgame-simple", *FIVE).when((0, ENTHRONE)).quiet().when((3, FORFEIT))
    fined = version_of(game, ev.PlayerFined)
    game.act(OPERATOR, cmd.VoidHand("a disturbance"))
    assert game.table.status is TableStatus.DISSOLVED
    event = reverse(game, fined)
    assert isinstance(event, ev.FineReversed)
    assert (event.seat, event.points) == (3, 40)
    assert deadline_of(game.table) == ""
    assert len(game.of(ev.TableDissolved)) == 1


def test_each_fine_is_taken_back_by_itself() -> None:
    """Two fined in one hand: the reversal of one says nothing of the other."""
    game = given("ourgame-simple", *FIVE).when((1, FORFEIT))
    first = version_of(game, ev.PlayerFined)
    game.act(OPERATOR, cmd.KickPlayer(4))
    second = version_of(game, ev.PlayerFined)
    reverse(game, second)
    assert game.last(ev.FineReversed).player == PLAYERS[4]
    reverse(game, first)
    assert game.last(ev.FineReversed).player == PLAYERS[1]


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_a_void_hand_is_scored_as_it_ended(ruleset: str) -> None:
    """TRUST-4 made it void; taken back, its points are those that places and roles give, doublings named."""
    game = given_deal(ruleset, name=f"reversed/{ruleset}")
    player = RandomPlayer(chance := chance_of("reversed", ruleset), mood_of(chance))
    while game.hand.phase not in {Phase.DECLARE, Phase.PLAY}:
        game.when(player.line(game.table))
    game.when(*((seat, TRUSTEE) for seat in ALL_SEATS))
    voided, finished = version_of(game, ev.HandVoided), game.last(ev.HandFinished)
    assert game.last(ev.HandVoided).rule == "TRUST-4"
    event = reverse(game, voided)
    assert isinstance(event, ev.VoidReversed)
    assert finished.emperor is not None
    outcome = Outcome(finished.emperor, finished.guard, finished.solo, finished.places, finished.open_guard,
                      finished.revolt, finished.kicked)  # fmt: skip
    assert event.points == settle(ruleset_named(ruleset), outcome)
    assert event.doublings == doublings(ruleset_named(ruleset), outcome)
    assert sum(event.points) == 0
    same = ("hand", "places", "emperor", "guard", "solo", "surrendered", "players", "ruleset", "options", "open_guard",
            "revolt", "kicked")  # fmt: skip
    assert [getattr(event, name) for name in same] == [getattr(finished, name) for name in same]
    assert (event.reverses, event.note, event.rule, event.decided_at) == (voided, WHY, "RULE-1", AT)
    assert event.rests_on == (voided, voided + 1)
    assert game.hand.result is not None
    assert (game.hand.result.void, game.hand.result.points) == (True, (0,) * 5)


def test_a_void_hand_that_was_surrendered_costs_the_emperor_four() -> None:
    """DECL-5: it was played to its end, though it has no places."""
    game = given("homy-standard", "BJ* SJ* 9s", "2s 4c", "Kh 2h", "2d 6c", "2c 7c").when((0, ENTHRONE))
    game.when((0, SURRENDER), *((seat, TRUSTEE) for seat in ALL_SEATS))
    assert game.last(ev.HandVoided).rule == "TRUST-4"
    event = reverse(game, version_of(game, ev.HandVoided))
    assert isinstance(event, ev.VoidReversed)
    assert (event.points, event.places, event.surrendered) == ((-4, 1, 1, 1, 1), (), True)


def test_both_of_one_hand() -> None:
    """A fine and the voiding of the same hand are two rulings, each with its own reversal."""
    game = given("ourgame-simple", *FIVE).when((2, FORFEIT))
    game.when(*((seat, TRUSTEE) for seat in (0, 1, 3, 4)))
    fined, voided = version_of(game, ev.PlayerFined), version_of(game, ev.HandVoided)
    assert game.hand.reversible == (Reversible(fined, 2), Reversible(voided, None))
    reverse(game, voided)
    reverse(game, fined)
    assert [one.reversed_by for one in game.hand.reversible] == [game.table.version, game.table.version - 1]


def test_a_ruling_is_taken_back_once() -> None:
    """ALREADY_REVERSED, of fines and of voids; a reversal itself cannot be taken back."""
    game = five_trustees()
    voided = version_of(game, ev.HandVoided)
    reverse(game, voided)
    assert refusal(game, reversal(game, voided)) == (Refusal.ALREADY_REVERSED, "RULE-1")
    assert refusal(game, reversal(game, game.table.version)) == (Refusal.NOT_REVERSIBLE, "RULE-1")
    game = given("ourgame-simple", *FIVE).when((1, FORFEIT))
    fined = version_of(game, ev.PlayerFined)
    reverse(game, fined)
    assert refusal(game, reversal(game, fined)) == (Refusal.ALREADY_REVERSED, "RULE-1")


def test_what_is_no_ruling_and_what_cannot_be_taken_back() -> None:
    """NOT_A_RULING, where nothing stands as well; NOT_REVERSIBLE: every other ruling, and an operator's void."""
    game = given("ourgame-simple", *FIVE).when((1, FORFEIT))
    game.act(OPERATOR, cmd.VoidHand("a disturbance"))
    refused = {
        type(event).__name__: refusal(game, reversal(game, game.table.version - len(game.events) + place))[0]
        for place, event in enumerate(game.events, 1)
        if not isinstance(event, ev.PlayerFined)
    }
    assert {name for name, reason in refused.items() if reason is Refusal.NOT_REVERSIBLE} == {
        "TrusteeshipEntered", "TrusteeshipMadePermanent", "HandVoided", "TableDissolved",
    }  # fmt: skip
    assert set(refused.values()) == {Refusal.NOT_REVERSIBLE, Refusal.NOT_A_RULING}
    assert refusal(game, reversal(game, 10_000)) == (Refusal.NOT_A_RULING, "RULE-1")


def test_before_there_is_a_table_or_a_hand() -> None:
    """NO_SUCH_TABLE, NOT_REVERSIBLE."""
    assert refusal_of_nothing() is Refusal.NO_SUCH_TABLE
    game = given_table("ourgame-simple")
    assert refusal(game, cmd.ReverseRuling(1, WHY, "TableClosed"))[0] is Refusal.NOT_REVERSIBLE


def refusal_of_nothing() -> Refusal:
    """Return why a ruling of no table is not taken back."""
    with pytest.raises(RefusedError) as refused:
        Game("none", None).act(OPERATOR, cmd.ReverseRuling(1, WHY, "PlayerFined"))
    return refused.value.reason


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_no_hand_follows_on_one_with_a_ruling_that_can_be_taken_back(ruleset: str) -> None:
    """FINE-2, TRUST-4: so the last hand, which a rebuild begins with, knows them all."""
    game = given_deal(ruleset, name=f"last/{ruleset}").when((4, FORFEIT))
    player = RandomPlayer(chance := chance_of("last", ruleset), mood_of(chance))
    while game.hand.phase is not Phase.SETTLED:
        game.when(player.line(game.table))
    assert game.table.status is TableStatus.DISSOLVED
    assert five_trustees().table.status is TableStatus.DISSOLVED
    voided = given_deal(ruleset, name=f"voided/{ruleset}")
    voided.act(OPERATOR, cmd.VoidHand("a disturbance"))
    assert (voided.table.status, voided.hand.reversible) == (TableStatus.OPEN, ())
    assert all_ready(voided).hand.reversible == ()


def test_a_table_rebuilt_from_its_last_hand_knows_them() -> None:
    """Folding from HandStarted gives the same table, and so the same decision."""
    game = given_deal("ourgame-simple", name="rebuilt").when((1, FORFEIT))
    fined = version_of(game, ev.PlayerFined)
    begun = next(place for place, event in enumerate(game.events) if isinstance(event, ev.HandStarted))
    rebuilt = Game("rebuilt again", fold(game.events[begun:]), tuple(game.events))
    assert rebuilt.table == game.table
    assert reverse(rebuilt, fined) == reverse(game, fined)


@pytest.mark.parametrize("seed", range(30))
def test_a_reversal_never_changes_what_comes_after(seed: int) -> None:
    """With a fine taken back, all that is played and decided later is as without it, but for versions."""
    ruleset = RULESET_NAMES[seed % len(RULESET_NAMES)]
    game = given_deal(ruleset, name=f"after/{seed}")
    chance = chance_of("after", str(seed))
    player = RandomPlayer(chance, mood_of(chance))
    for _ in range(chance.randrange(12)):
        game.when(player.line(game.table))
    game.when((chance.randrange(5), FORFEIT))
    other = Game(game.name, game.table, tuple(game.events))
    other._commands = game._commands
    reverse(game, version_of(game, ev.PlayerFined))
    game._commands = other._commands
    while other.hand.phase is not Phase.SETTLED:
        line = player.line(other.table)
        assert [told(event) for event in other.act(other.hand.players[line[0]], line[1])] == [
            told(event) for event in game.act(game.hand.players[line[0]], line[1])
        ]
    assert other.table.status is game.table.status is TableStatus.DISSOLVED
    assert told(other.events[-2]) == told(game.events[-2])


def told(event: Any) -> object:
    """Return what an event says but for versions."""
    return replace(event, rests_on=()) if hasattr(event, "rests_on") else event
