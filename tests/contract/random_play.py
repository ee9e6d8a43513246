"""Real play by players who choose at random: tables in every phase, for tests that want all there is."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from random import Random

from baohuang.rules import commands as cmd
from baohuang.rules.clock import deadline_of
from baohuang.rules.decide import decide
from baohuang.rules.events import Event
from baohuang.rules.refusals import RefusedError
from baohuang.rules.rulesets import Options
from baohuang.rules.state import ALL_SEATS, Instant, PlayerId, Table, TableId, TableStatus, in_progress
from bench.random_player import RandomPlayer, mood_of

_AT = Instant("2026-01-31T08:05:09.000123Z")
_RESTLESS = 0.004
_STANDING: tuple[cmd.Action, ...] = (
    *(cmd.RequestTrusteeship(),) * 5,
    *(cmd.LeaveTable(),) * 5,
    cmd.ForfeitSeat(),
    cmd.VoidHand("an operator's reason"),
)
"""A seat that is forfeited is in trusteeship to the end, which dissolves the table (TRUST-4): seldom, then."""
_UNSETTLED = 0.05
_SEATING: tuple[cmd.Action, ...] = (cmd.StandUp(), cmd.SetReady(ready=False), cmd.CloseTable("an operator's reason"))


@dataclass(frozen=True, slots=True)
class Step:
    """What one command brought about, and the table after it."""

    events: tuple[Event, ...]
    table: Table


def play(ruleset: str, options: Options, seed: int, hands: int) -> Iterator[Step]:
    """Play hands at a new table, by a seed; the table may be dissolved earlier."""
    random = Random(seed)  # noqa: S311 - to be repeated, not to be unforeseeable
    player = RandomPlayer(random, replace(mood_of(random), open_solos=0.4))
    opening = cmd.OpenTable(TableId("table"), ruleset, options)
    events, (*_, table) = decide(None, _command(PlayerId("creator"), opening, random))
    yield Step(events, table)
    for seat in ALL_SEATS:
        events, (*_, table) = decide(table, _command(_player(seat), cmd.SitDown(seat), random))
        yield Step(events, table)
    while table.hands_played < hands and table.status is TableStatus.OPEN:
        events, table = _next(table, player, random)
        yield Step(events, table)
    yield from _reversals(table, random)


def play_by_trustees(ruleset: str) -> Iterator[Step]:
    """Play a hand by trustees alone, which makes it void, and have that taken back."""
    random, table = Random(ruleset), None  # noqa: S311 - to be repeated
    creator, five = PlayerId("creator"), tuple(map(_player, ALL_SEATS))
    actions: list[tuple[PlayerId, cmd.Action]] = [
        (creator, cmd.OpenTable(TableId("table"), ruleset, Options(), players=five)),
        *((player, cmd.SetReady(ready=True)) for player in five),
        *((player, cmd.RequestTrusteeship()) for player in five),
    ]
    for player, action in actions:
        events, (*_, table) = decide(table, _command(player, action, random))
        yield Step(events, table)
    if table is not None:
        yield from _reversals(table, random)


def _reversals(table: Table, random: Random) -> Iterator[Step]:
    """Take back all rulings that can be."""
    for ruling in table.hand.reversible if table.hand else ():
        kind = "HandVoided" if ruling.seat is None else "PlayerFined"
        action = cmd.ReverseRuling(ruling.version, "an operator's reason", kind)
        events, (*_, table) = decide(table, _command(PlayerId("operator"), action, random))
        yield Step(events, table)


def _player(seat: int) -> PlayerId:
    return PlayerId(f"player-{seat}")


def _command(player: PlayerId, action: cmd.Action, random: Random) -> cmd.Command:
    at = max(_AT, action.due_at) if isinstance(action, cmd.ExpireDeadline) else _AT
    return cmd.Command(player, action, at, sha256(random.randbytes(32)).hexdigest())


def _next(table: Table, player: RandomPlayer, random: Random) -> tuple[tuple[Event, ...], Table]:
    """Do the first of the actions that somebody might choose which the rules allow."""
    for seat, action in _choices(table, player, random):
        try:
            events, (*_, after) = decide(table, _command(_player(seat), action, random))
        except RefusedError:
            continue
        return events, after
    raise AssertionError(f"nobody can do anything in {table.hand and table.hand.phase}")


def _choices(table: Table, player: RandomPlayer, random: Random) -> Iterator[tuple[int, cmd.Action]]:
    hand = table.hand
    if hand is None or not in_progress(table):
        yield from _between_hands(table, random)
        return
    if random.random() < _RESTLESS:
        yield random.choice(ALL_SEATS), random.choice(_STANDING)
    yield from ((seat, cmd.CancelTrusteeship()) for seat in ALL_SEATS if hand.trusteeships[seat].active)
    yield player.line(table)


def _between_hands(table: Table, random: Random) -> Iterator[tuple[int, cmd.Action]]:
    if random.random() < _UNSETTLED:
        yield random.choice(ALL_SEATS), random.choice(_SEATING)
    if random.random() < _UNSETTLED:
        yield 0, cmd.ExpireDeadline(deadline_of(table))
    empty = [seat for seat in ALL_SEATS if not table.seats[seat].player]
    if empty:
        seat = random.choice(empty)
        yield seat, cmd.SitDown(seat)
    unready = [seat for seat in ALL_SEATS if not table.seats[seat].ready]
    yield random.choice(unready), cmd.SetReady(ready=True, entropy=random.choice(["", "熵"]))
