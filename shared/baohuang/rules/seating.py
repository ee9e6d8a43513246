"""The table around its hands: who sits, who is ready, and what becomes of those who keep others waiting (TABLE-1).

A sitter always has a deadline between hands, an empty table as well; the events say it, the clock keeps it.
"""

from collections.abc import Sequence
from typing import Final

from baohuang.rules.clock import NEVER, deadline_of, later
from baohuang.rules.commands import SetReady
from baohuang.rules.deal import ENTROPY_BYTES, SEATS
from baohuang.rules.decision import Decision
from baohuang.rules.events import PlayerSat, PlayerStood, PlayerUnseated, ReadinessSet, TableClosed
from baohuang.rules.refusals import Refusal, RefusedError
from baohuang.rules.state import (
    ALL_SEATS,
    NOBODY,
    ClosingReason,
    Instant,
    PlayerId,
    Table,
    TableStatus,
    UnseatingReason,
    in_progress,
    seat_of,
)

READY_SECONDS: Final = 120
"""How long a sitter may take to get ready: since he sat down, took it back, or the last hand ended."""
WAITING_SECONDS: Final = 3600
"""How long one who is ready may wait for a hand."""
ABANDONED_SECONDS: Final = 600
"""How long a table may stand without anybody sitting at it."""

_CLOSED_BY: Final = {TableStatus.DISSOLVED: "TRUST-4", TableStatus.CLOSED: "TABLE-1"}
_RULES: Final = {
    UnseatingReason.NOT_READY: "TABLE-1",
    UnseatingReason.WAITED_TOO_LONG: "TABLE-1",
    UnseatingReason.IN_ANOTHER_HAND: "FINE-6",
    UnseatingReason.BANNED: "RULE-1",
}


def sit_down(decision: Decision, seat: int) -> None:
    """Take an empty seat."""
    table, player = decision.table, decision.command.player
    check_open(table)
    if seat_of(table, player) is not None:
        raise RefusedError(Refusal.ALREADY_SEATED, "TABLE-1", "you sit at this table already")
    if table.seats[seat_given(seat)].player != NOBODY:
        raise RefusedError(Refusal.SEAT_TAKEN, "TABLE-1", f"seat {seat} is taken")
    _check_may_play(decision)
    decision.emit(PlayerSat(seat, player, _later(decision, READY_SECONDS)))


def sit_together(decision: Decision, players: Sequence[PlayerId]) -> None:
    """Seat players, each at the seat of his place in the row; raise RefusedError naming one who may not sit down."""
    for player in players:
        if player in decision.command.elsewhere:
            raise RefusedError(Refusal.IN_ANOTHER_HAND, "FINE-6", f"{player} plays a hand at another table", player)
        if player in decision.command.banned:
            raise RefusedError(Refusal.BANNED, "RULE-1", f"{player} is banned", player)
    for seat, player in enumerate(players):
        decision.emit(PlayerSat(seat, player, _later(decision, READY_SECONDS)))


def stand_up(decision: Decision) -> None:
    """Leave one's seat between hands."""
    check_open(decision.table)
    seat = own_seat(decision)
    _check_between_hands(decision.table)
    decision.emit(PlayerStood(seat, decision.command.player, _closes_without(decision, seat)))


def set_ready(decision: Decision, action: SetReady) -> None:
    """Get ready for the next hand, or take it back. Who says the same again gains no time by it.

    Others who are known not to be allowed to play are unseated, so that no hand begins with them (FINE-6, RULE-1).
    """
    check_open(decision.table)
    seat = own_seat(decision)
    _check_between_hands(decision.table)
    if len(action.entropy.encode()) > ENTROPY_BYTES:
        raise RefusedError(Refusal.ENTROPY_TOO_LONG, "FAIR-1", f"at most {ENTROPY_BYTES} bytes of entropy")
    if action.ready:
        _check_may_play(decision)
        _unseat_who_may_not_play(decision)
    taken = decision.table.seats[seat]
    seconds = WAITING_SECONDS if action.ready else READY_SECONDS
    due_at = taken.due_at if taken.ready == action.ready and taken.due_at else _later(decision, seconds)
    entropy = action.entropy if action.ready else ""
    decision.emit(ReadinessSet(seat, decision.command.player, action.ready, entropy, due_at))


def expire(decision: Decision, due_at: Instant) -> None:
    """Unseat all whose deadline this is; close the table if it is the table's (TABLE-1).

    Raises RefusedError NOT_DUE if that deadline is not the table's next any more, or is still to come.
    """
    table = decision.table
    if not due_at or deadline_of(table) != due_at or decision.command.at < due_at:
        raise RefusedError(Refusal.NOT_DUE, "TABLE-1", "no such deadline has passed")
    if table.closes_at == due_at:
        _close(decision, ClosingReason.ABANDONED, "", "TABLE-1", (table.closes_version,))
    for seat, taken in enumerate(table.seats):
        if taken.due_at == due_at:
            late = UnseatingReason.WAITED_TOO_LONG if taken.ready else UnseatingReason.NOT_READY
            _unseat(decision, seat, late, due_at)


def close(decision: Decision, note: str) -> None:
    """Close the table for good, by an operator's ruling (RULE-1); a hand has to be over, or voided, before."""
    check_open(decision.table)
    _check_between_hands(decision.table)
    _close(decision, ClosingReason.BY_OPERATOR, note, "RULE-1", ())


def seat_given(seat: int) -> int:
    """Return the seat; raise RefusedError NO_SUCH_SEAT if it is none."""
    if seat not in ALL_SEATS:
        raise RefusedError(Refusal.NO_SUCH_SEAT, "TABLE-1", f"seats are 0 to {SEATS - 1}")
    return seat


def own_seat(decision: Decision) -> int:
    """Return the seat the player sits in; raise RefusedError NOT_SEATED."""
    seat = seat_of(decision.table, decision.command.player)
    if seat is None:
        raise RefusedError(Refusal.NOT_SEATED, "TABLE-1", "you do not sit at this table")
    return seat


def check_open(table: Table) -> None:
    """Raise RefusedError TABLE_CLOSED for a table that was dissolved or closed."""
    if table.status is not TableStatus.OPEN:
        raise RefusedError(Refusal.TABLE_CLOSED, _CLOSED_BY[table.status], "the table is closed for good")


def _check_between_hands(table: Table) -> None:
    if in_progress(table):
        raise RefusedError(Refusal.HAND_IN_PROGRESS, "TABLE-1", "a hand is being played")


def _check_may_play(decision: Decision) -> None:
    command = decision.command
    if command.player in command.elsewhere:
        raise RefusedError(Refusal.IN_ANOTHER_HAND, "FINE-6", "you play a hand at another table: finish or forfeit it")
    if command.player in command.banned:
        raise RefusedError(Refusal.BANNED, "RULE-1", "you are banned")


def _unseat_who_may_not_play(decision: Decision) -> None:
    command = decision.command
    for seat, taken in enumerate(decision.table.seats):
        if taken.player in command.elsewhere:
            _unseat(decision, seat, UnseatingReason.IN_ANOTHER_HAND, NEVER)
        elif taken.player in command.banned:
            _unseat(decision, seat, UnseatingReason.BANNED, NEVER)


def _unseat(decision: Decision, seat: int, reason: UnseatingReason, due_at: Instant) -> None:
    taken = decision.table.seats[seat]
    decision.emit(
        PlayerUnseated(
            seat=seat,
            player=taken.player,
            reason=reason,
            rule=_RULES[reason],
            decided_at=decision.command.at,
            due_at=due_at,
            closes_at=_closes_without(decision, seat),
            rests_on=(taken.due_version,),
        ),
    )


def _close(decision: Decision, reason: ClosingReason, note: str, rule: str, rests_on: tuple[int, ...]) -> None:
    decision.emit(TableClosed(reason, note, rule, decision.command.at, rests_on))


def _closes_without(decision: Decision, seat: int) -> Instant:
    """Return when the table closes once this seat is empty as well; NEVER if others sit."""
    others = any(taken.player for other, taken in enumerate(decision.table.seats) if other != seat)
    return NEVER if others else _later(decision, ABANDONED_SECONDS)


def _later(decision: Decision, seconds: int) -> Instant:
    return later(decision.command.at, seconds)
