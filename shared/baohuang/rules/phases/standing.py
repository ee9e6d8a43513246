"""Who plays a seat: trusteeship (托管), leaving and fines (sections 6 and 7)."""

from baohuang.rules.clock import NEVER, later
from baohuang.rules.commands import ExpireDeadline
from baohuang.rules.decision import Decision
from baohuang.rules.events import (
    PlayerFined,
    TrusteeshipCancelled,
    TrusteeshipEntered,
    TrusteeshipMadePermanent,
    TurnExtended,
)
from baohuang.rules.phases.asking import check_is_asked, seats_to_act
from baohuang.rules.refusals import Refusal, RefusedError
from baohuang.rules.state import SIMULTANEOUS, Connection, FineReason, Hand, Instant, Phase, TrusteeshipReason

_ENTRIES_THAT_CAN_BE_CANCELLED = 3
_FINE_BEFORE_ROLES = -20
_FINE_AFTER_ROLES = -40
_FORCED_OUT = {
    FineReason.FORFEITED: TrusteeshipReason.FORFEITED,
    FineReason.KICKED: TrusteeshipReason.KICKED,
}


def expire_turn(decision: Decision, seat: int) -> None:
    """TRUST-1: the time of a seat that has to act has run out."""
    _check_in_hand(decision)
    check_is_asked(decision.hand, seat)
    _enter(decision, seat, TrusteeshipReason.TIMEOUT)


def expire_deadline(decision: Decision, due_at: Instant) -> None:
    """TRUST-1: the deadline has passed for all who have not acted; TRUST-5: too long ago to be enforced.

    Raises RefusedError NOT_DUE if that deadline is not the hand's any more, or is still to come.
    """
    hand, now = decision.hand, decision.command.at
    if not due_at or hand.due_at != due_at or now < due_at:
        raise RefusedError(Refusal.NOT_DUE, "TRUST-1", "no such deadline has passed")
    if now > later(due_at, decision.table.options.grace_seconds):
        _extend(decision)
        return
    for seat in seats_to_act(hand):
        _enter(decision, seat, TrusteeshipReason.TIMEOUT)


def _extend(decision: Decision) -> None:
    """TRUST-5: the service's own delay is never the player's fault."""
    hand = decision.hand
    decision.emit(
        TurnExtended(
            seats=seats_to_act(hand),
            missed_due_at=hand.due_at,
            rule="TRUST-5",
            decided_at=decision.command.at,
            due_at=decision.answers_due() if hand.phase in SIMULTANEOUS else decision.turn_ends(),
            rests_on=(hand.turn_version,),
        ),
    )


def request_trusteeship(decision: Decision, seat: int, reason: TrusteeshipReason) -> None:
    """TRUST-1, FINE-1: the player asks for the trustee, or leaves during the hand."""
    _check_in_hand(decision)
    if decision.hand.trusteeships[seat].active:
        raise RefusedError(Refusal.ALREADY_TRUSTEE, "TRUST-1", f"seat {seat} is in trusteeship")
    _enter(decision, seat, reason)


def cancel_trusteeship(decision: Decision, seat: int) -> None:
    """TRUST-3: the player takes his seat back, unless the trusteeship is permanent."""
    _check_in_hand(decision)
    standing = decision.hand.trusteeships[seat]
    if not standing.active:
        raise RefusedError(Refusal.NOT_TRUSTEE, "TRUST-3", f"seat {seat} is not in trusteeship")
    if standing.permanent:
        rule = "FINE-2" if decision.hand.fines[seat] else "TRUST-3"
        raise RefusedError(Refusal.PERMANENT_TRUSTEESHIP, rule, "this trusteeship lasts to the end of the hand")
    decision.emit(TrusteeshipCancelled(seat, decision.hand.players[seat]))


def force_out(decision: Decision, seat: int, reason: FineReason) -> None:
    """FINE-2, FINE-3: fine the player at once and give the seat to the trustee for the rest of the hand."""
    _check_in_hand(decision)
    hand = decision.hand
    if hand.fines[seat]:
        raise RefusedError(Refusal.ALREADY_FORFEITED, "FINE-2", f"seat {seat} has been forfeited")
    settled = hand.roles.settled
    decision.emit(
        PlayerFined(
            seat=seat,
            player=hand.players[seat],
            points=_FINE_AFTER_ROLES if settled else _FINE_BEFORE_ROLES,
            reason=reason,
            roles_settled=settled,
            rule="FINE-3",
            decided_at=decision.command.at,
            rests_on=(hand.turn_version,),
        ),
    )
    if not hand.trusteeships[seat].active:
        _enter(decision, seat, _FORCED_OUT[reason])
    if not decision.hand.trusteeships[seat].permanent:
        _make_permanent(decision, seat, "FINE-2")


def _check_in_hand(decision: Decision) -> None:
    if decision.hand.phase is Phase.SETTLED:
        raise RefusedError(Refusal.WRONG_PHASE, "TRUST-1", "the hand is over")


def _enter(decision: Decision, seat: int, reason: TrusteeshipReason) -> None:
    hand = decision.hand
    entry, line = hand.trusteeships[seat].entries + 1, hand.connections[seat]
    decision.emit(
        TrusteeshipEntered(
            seat=seat,
            player=hand.players[seat],
            reason=reason,
            entry=entry,
            rule="FINE-2" if reason in _FORCED_OUT.values() else "TRUST-1",
            decided_at=decision.command.at,
            due_at=hand.due_at if reason is TrusteeshipReason.TIMEOUT else NEVER,
            connection_lost_at=_lost_at(decision, seat),
            rests_on=_evidence(hand, line),
        ),
    )
    if entry > _ENTRIES_THAT_CAN_BE_CANCELLED:
        _make_permanent(decision, seat, "TRUST-3")


def _lost_at(decision: Decision, seat: int) -> Instant:
    """Return since when the player's line is known to be lost, NEVER if it is not: by the clock's reading, and the log.

    The log holds one loss and one return a turn, so that the last one may be missing there.
    """
    recorded, action = decision.hand.connections[seat].lost_at, decision.command.action
    if not isinstance(action, ExpireDeadline):
        return recorded
    if seat in action.watching:
        return NEVER
    return recorded or next((line.since for line in action.lost if line.seat == seat), NEVER)


def _evidence(hand: Hand, line: Connection) -> tuple[int, ...]:
    """Return the versions that a trusteeship rests on: the turn's, and the last word on the player's line (RULE-1)."""
    return tuple(sorted({hand.turn_version, line.version} - {0}))


def _make_permanent(decision: Decision, seat: int, rule: str) -> None:
    hand = decision.hand
    rests_on = (hand.trusteeships[seat].version,)
    decision.emit(TrusteeshipMadePermanent(seat, hand.players[seat], rule, decision.command.at, rests_on))
