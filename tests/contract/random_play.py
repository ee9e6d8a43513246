"""Real play by players who choose at random: tables in every phase, for tests that want all there is."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import combinations
from random import Random

from baohuang.rules import commands as cmd
from baohuang.rules.cards import identical
from baohuang.rules.decide import decide
from baohuang.rules.events import Event
from baohuang.rules.legal import cards_for, legal_shapes
from baohuang.rules.plays import shape_of
from baohuang.rules.refusals import RefusedError
from baohuang.rules.rulesets import Options
from baohuang.rules.state import (
    ALL_SEATS,
    Answer,
    Hand,
    Instant,
    Phase,
    PlayerId,
    Table,
    TableId,
    TableStatus,
    in_progress,
)

_AT = Instant("2026-01-31T08:05:09.000123Z")
_DECLARATIONS = (Answer.OPEN_GUARD, Answer.OPEN_SOLO, Answer.REVOLT, Answer.SURRENDER, Answer.NONE)
_RESTLESS = 0.004
_STANDING: tuple[cmd.Action, ...] = (
    *(cmd.RequestTrusteeship(),) * 5,
    *(cmd.LeaveTable(),) * 5,
    cmd.ForfeitSeat(),
)
"""A seat that is forfeited is in trusteeship to the end, which dissolves the table (TRUST-4): seldom, then."""


@dataclass(frozen=True, slots=True)
class Step:
    """What one command brought about, and the table after it."""

    events: tuple[Event, ...]
    table: Table


def play(ruleset: str, options: Options, seed: int, hands: int) -> Iterator[Step]:
    """Play hands at a new table, by a seed; the table may be dissolved earlier."""
    random = Random(seed)  # noqa: S311 - to be repeated, not to be unforeseeable
    opening = cmd.OpenTable(TableId("table"), ruleset, options)
    events, table = decide(None, _command(PlayerId("creator"), opening, random))
    yield Step(events, table)
    for seat in ALL_SEATS:
        events, table = decide(table, _command(_player(seat), cmd.SitDown(seat), random))
        yield Step(events, table)
    while table.hands_played < hands and table.status is TableStatus.OPEN:
        events, table = _next(table, random)
        yield Step(events, table)


def _player(seat: int) -> PlayerId:
    return PlayerId(f"player-{seat}")


def _command(player: PlayerId, action: cmd.Action, random: Random) -> cmd.Command:
    return cmd.Command(player, action, _AT, sha256(random.randbytes(32)).hexdigest())


def _next(table: Table, random: Random) -> tuple[tuple[Event, ...], Table]:
    """Do the first of the actions that somebody might choose which the rules allow."""
    for seat, action in _choices(table, random):
        try:
            return decide(table, _command(_player(seat), action, random))
        except RefusedError:
            continue
    raise AssertionError(f"nobody can do anything in {table.hand and table.hand.phase}")


def _choices(table: Table, random: Random) -> Iterator[tuple[int, cmd.Action]]:
    hand = table.hand
    if hand is None or not in_progress(table):
        unready = [seat for seat in ALL_SEATS if not table.seats[seat].ready]
        yield random.choice(unready), cmd.SetReady(ready=True, entropy=random.choice(["", "熵"]))
        return
    if random.random() < _RESTLESS:
        yield random.choice(ALL_SEATS), random.choice(_STANDING)
    yield from ((seat, cmd.CancelTrusteeship()) for seat in ALL_SEATS if hand.trusteeships[seat].active)
    seats = [hand.turn] if hand.turn is not None else [seat for seat in hand.asked if hand.answers[seat] is None]
    for seat in random.sample(seats, len(seats)):
        moves = _moves(table, hand, seat)
        yield from ((seat, move) for move in random.sample(moves, len(moves)))
        yield seat, cmd.ExpireTurn(seat)


def _moves(table: Table, hand: Hand, seat: int) -> list[cmd.Action]:  # noqa: PLR0911 - one line a phase
    match hand.phase:
        case Phase.TRIBUTE:
            due = next(paid for paid in hand.tribute if paid.receiver == seat and not paid.returned)
            return [cmd.ReturnTribute(cards) for cards in combinations(hand.hands[seat][:6], len(due.cards))]
        case Phase.CROWN:
            return [cmd.Enthrone(), cmd.Yield(), cmd.Yield(), cmd.Yield(), cmd.DeclareOpenSolo()]
        case Phase.SEIZE:
            return [cmd.AnswerSeize(Answer.SEIZE), *[cmd.AnswerSeize(Answer.NONE)] * 9]
        case Phase.CALL:
            held = hand.hands[seat]
            return [cmd.DeclareOpenSolo(), *(cmd.CallCard(card) for n in (3, 4) for card in identical(held, n))]
        case Phase.DECLARE:
            return [cmd.Declare(answer) for answer in _DECLARATIONS]
        case Phase.KICK:
            return [cmd.AnswerKick(Answer.KICK), cmd.AnswerKick(Answer.NONE)]
        case Phase.PLAY:
            return _plays(table, hand, seat)
        case _:
            return []


def _plays(table: Table, hand: Hand, seat: int) -> list[cmd.Action]:
    held = hand.hands[seat]
    shapes = legal_shapes(held, shape_of(hand.trick.cards), table.ruleset.roast, table.ruleset.hold6)
    return [cmd.Pass(), *(cmd.Play(cards_for(held, shape)) for shape in shapes)]
