"""Random playouts through the engine's own `decide`, every legal play being listed at every decision in PLAY."""

import random
import time
from dataclasses import dataclass
from typing import Final

from baohuang.rules import commands as cmd
from baohuang.rules.decide import decide
from baohuang.rules.events import Event
from baohuang.rules.rulesets import RULESETS, Options, RulesetId
from baohuang.rules.state import ALL_SEATS, Instant, PlayerId, Table, TableId, in_progress

from .random_player import Mood, RandomPlayer, first_cards

PLAYERS: Final = tuple(PlayerId(f"player-{seat}") for seat in ALL_SEATS)
_AT: Final = Instant("2026-01-01T00:00:00.000000Z")
_PLAIN: Final = Mood(yields=0, yields_again=0, seizes=0, declares=0, kicks=0, passes=0.3, of_plays=1, cards=first_cards)
"""Comes to the play at once, and then plays anything: all the time goes into what is measured."""


@dataclass(slots=True)
class Count:
    """What a run of playouts came to."""

    decisions: int = 0
    hands: int = 0


def play_for(seconds: float, dice: random.Random) -> tuple[float, float]:
    """Play hands of all rulesets in turn; return decisions and listed legal plays a second."""
    count, player = Count(), RandomPlayer(dice, _PLAIN)
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        for name in RULESETS:
            play_hand(name, dice, player, count)
    elapsed = time.perf_counter() - start
    return count.decisions / elapsed, player.listed / elapsed


def play_hand(name: RulesetId, dice: random.Random, player: RandomPlayer, count: Count) -> None:
    """Play one hand to its end."""
    table = _dealt(name, dice)
    while in_progress(table):
        table = _played(table, dice, player)
        count.decisions += 1
    count.hands += 1


def history_of_a_hand(name: RulesetId, dice: random.Random) -> list[Event]:
    """Return all events of a new table up to the end of its first hand."""
    events: list[Event] = []
    table, player = _dealt(name, dice, events), RandomPlayer(dice, _PLAIN)
    while in_progress(table):
        table = _played(table, dice, player, events)
    return events


def _played(table: Table, dice: random.Random, player: RandomPlayer, history: list[Event] | None = None) -> Table:
    seat, move = player.line(table)
    return _decided(table, PLAYERS[seat], move, dice, history)


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
    events, (*_, after) = decide(table, cmd.Command(player, action, _AT, f"{dice.getrandbits(256):064x}"))
    if history is not None:
        history += events
    return after
