"""Random playouts through the engine's own `decide`, every legal play being listed at every decision in PLAY."""

import random
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from baohuang.rules import commands as cmd
from baohuang.rules.cards import Card, identical
from baohuang.rules.decide import decide
from baohuang.rules.events import Event
from baohuang.rules.legal import cards_for, legal_shapes
from baohuang.rules.phases.asking import seats_to_act
from baohuang.rules.phases.crown import able
from baohuang.rules.plays import shape_of
from baohuang.rules.rulesets import RULESETS, Guarding, Options, RulesetId
from baohuang.rules.state import ALL_SEATS, Answer, Hand, Instant, Phase, PlayerId, Table, TableId, in_progress

PLAYERS: Final = tuple(PlayerId(f"player-{seat}") for seat in ALL_SEATS)
_AT: Final = Instant("2026-01-01T00:00:00.000000Z")
_NOTHING: Final[dict[Phase, Callable[[Answer], cmd.Action]]] = {
    Phase.SEIZE: cmd.AnswerSeize,
    Phase.DECLARE: cmd.Declare,
    Phase.KICK: cmd.AnswerKick,
}


@dataclass(slots=True)
class Count:
    """What a run of playouts came to."""

    decisions: int = 0
    legal_plays: int = 0
    hands: int = 0


def play_for(seconds: float, dice: random.Random) -> tuple[float, float]:
    """Play hands of all rulesets in turn; return decisions and listed legal plays a second."""
    count = Count()
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        for name in RULESETS:
            play_hand(name, dice, count)
    elapsed = time.perf_counter() - start
    return count.decisions / elapsed, count.legal_plays / elapsed


def play_hand(name: RulesetId, dice: random.Random, count: Count) -> None:
    """Play one hand to its end."""
    table = _dealt(name, dice)
    while in_progress(table):
        table = _played(table, dice, count)
        count.decisions += 1
    count.hands += 1


def history_of_a_hand(name: RulesetId, dice: random.Random) -> list[Event]:
    """Return all events of a new table up to the end of its first hand."""
    events: list[Event] = []
    table = _dealt(name, dice, events)
    while in_progress(table):
        table = _played(table, dice, Count(), events)
    return events


def _played(table: Table, dice: random.Random, count: Count, history: list[Event] | None = None) -> Table:
    hand = table.hand
    assert hand is not None
    seat = seats_to_act(hand)[0]
    return _decided(table, PLAYERS[seat], _move(table, hand, seat, dice, count), dice, history)


def _dealt(name: RulesetId, dice: random.Random, history: list[Event] | None = None) -> Table:
    opening = cmd.OpenTable(TableId("bench"), name, Options())
    table = _decided(None, PLAYERS[0], opening, dice, history)
    for action in (cmd.SitDown, _ready):
        for seat, player in enumerate(PLAYERS):
            table = _decided(table, player, action(seat), dice, history)
    return table


def _ready(_seat: int) -> cmd.Action:
    return cmd.SetReady(ready=True)


def _decided(
    table: Table | None, player: PlayerId, action: cmd.Action, dice: random.Random, history: list[Event] | None = None
) -> Table:
    events, after = decide(table, cmd.Command(player, action, _AT, f"{dice.getrandbits(256):064x}"))
    if history is not None:
        history += events
    return after


def _move(table: Table, hand: Hand, seat: int, dice: random.Random, count: Count) -> cmd.Action:
    match hand.phase:
        case Phase.PLAY:
            return _play(table, hand, seat, dice, count)
        case Phase.CROWN:
            must_call = table.ruleset.guarding is Guarding.CALLED_CARD
            return cmd.Enthrone() if not must_call or able(hand.hands[seat]) else cmd.Yield()
        case Phase.CALL:
            return cmd.CallCard(dice.choice([*_callable(hand, seat)]))
        case phase:
            return _NOTHING[phase](Answer.NONE)


def _play(table: Table, hand: Hand, seat: int, dice: random.Random, count: Count) -> cmd.Action:
    """Choose evenly among all legal plays and, where it is allowed, the pass."""
    on = shape_of(hand.trick.cards)
    shapes = legal_shapes(hand.hands[seat], on, table.ruleset.roast, table.ruleset.hold6)
    count.legal_plays += len(shapes)
    chosen = dice.randrange(len(shapes) + (on is not None))
    return cmd.Play(cards_for(hand.hands[seat], shapes[chosen])) if chosen < len(shapes) else cmd.Pass()


def _callable(hand: Hand, seat: int) -> Iterable[Card]:
    own = hand.hands[seat]
    return (*identical(own, 3), *identical(own, 4))
