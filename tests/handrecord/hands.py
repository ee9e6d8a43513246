"""Finished hands of random players, as the log would have them."""

from collections.abc import Iterator
from random import Random
from typing import Final

from baohuang.handrecord import HandRecord, RecordedEvent
from baohuang.handrecord.from_log import HandCutter
from baohuang.rules.refusals import RefusedError
from baohuang.rules.rulesets import Options
from baohuang.rules.state import TableStatus, in_progress
from bench.random_player import Mood, RandomPlayer, first_cards, standing_line
from rules.playing import Game, all_ready, given_table

BRISK: Final = Mood(declares=0.7, kicks=0.3, passes=0.0, surrenders=True, open_solos=0.1, cards=first_cards)
"""Comes to the end soon, and still does a bit of everything."""


def recorded(game: Game) -> list[RecordedEvent]:
    """Return the events of a game with their versions, all of the one moment at which it was played."""
    return [RecordedEvent(version, game.at, event) for version, event in enumerate(game.events, 1)]


def cut(events: list[RecordedEvent]) -> list[HandRecord]:
    """Return the finished hands among a table's events."""
    records: dict[int, HandRecord] = {}
    cutter = HandCutter()
    for one in events:
        record = cutter.take(one)
        if record is not None:
            records[record.started.hand] = record
    return list(records.values())


def play_hand(game: Game, chance: Random, clumsiness: float = 0.0) -> None:
    """Play a hand at a table with all five seated to its end; so often something happens that is no move."""
    all_ready(game)
    player = RandomPlayer(chance, BRISK)
    while in_progress(game.table):
        seat, action = standing_line(chance) if chance.random() < clumsiness else player.line(game.table)
        try:
            game.when((seat, action))
        except RefusedError:
            continue


def games(ruleset: str, name: str, hands: int, options: Options | None = None) -> Iterator[tuple[Game, Random]]:
    """Yield tables after each of so many hands, two at a table unless it is dissolved after the first."""
    played = 0
    while played < hands:
        chance = Random(f"{name}/{ruleset}/{played}")  # noqa: S311 - the same hands on every run
        game = given_table(ruleset, options=options, name=f"{name}/{ruleset}/{played}")
        while played < hands and len(game.events) < _TWO_HANDS and game.table.status is TableStatus.OPEN:
            play_hand(game, chance, clumsiness=chance.choice((0.0, 0.0, 0.02)))
            played += 1
            yield game, chance


_TWO_HANDS: Final = 300
"""Events of a table after which it is left."""


def a_record(ruleset: str = "homy-qingdao", name: str = "a record") -> HandRecord:
    """Return the record of some hand."""
    game, _ = next(games(ruleset, name, 1))
    return cut(recorded(game))[-1]
