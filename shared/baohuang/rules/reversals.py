"""Taking rulings back: a fine, or that a hand is void which was played to its end (RULE-1).

A ruling stays as it was recorded; what takes it back is an event of its own that names it, once, and from which the
points follow. Nothing becomes of the table by it.

The hand knows which of its rulings can be taken back, and after a hand that has any the table has no other: who was
fined is a trustee to the hand's end, and so are all five when it is void with places; either dissolves the table
(FINE-2, TRUST-4).
"""

from typing import Final

from baohuang.rules.commands import ReverseRuling
from baohuang.rules.decision import Decision
from baohuang.rules.events import FineReversed, VoidReversed, names_ruling
from baohuang.rules.refusals import Refusal, RefusedError
from baohuang.rules.settlement import doublings, settle
from baohuang.rules.state import Hand, Reversible, Table, outcome_of

_RULE: Final = "RULE-1"


def reverse(decision: Decision, action: ReverseRuling) -> None:
    """Take the ruling back. Raises RefusedError NOT_A_RULING, NOT_REVERSIBLE, ALREADY_REVERSED."""
    ruling = _ruling(decision.table, action)
    if ruling.seat is None:
        _reverse_void(decision, action)
    else:
        _reverse_fine(decision, action, ruling.seat)


def _ruling(table: Table, action: ReverseRuling) -> Reversible:
    if not names_ruling(action.kind):
        raise RefusedError(Refusal.NOT_A_RULING, _RULE, f"there is no ruling at version {action.version}")
    known = table.hand.reversible if table.hand else ()
    ruling = next((one for one in known if one.version == action.version), None)
    if ruling is None:
        what = "fines can be taken back, and that a hand is void which was played to its end"
        raise RefusedError(Refusal.NOT_REVERSIBLE, _RULE, f"only {what}")
    if ruling.reversed_by:
        raise RefusedError(Refusal.ALREADY_REVERSED, _RULE, f"it was taken back at version {ruling.reversed_by}")
    return ruling


def _reverse_fine(decision: Decision, action: ReverseRuling, seat: int) -> None:
    hand = decision.hand
    decision.emit(
        FineReversed(
            seat=seat,
            player=hand.players[seat],
            points=-hand.fines[seat],
            reverses=action.version,
            note=action.note,
            rule=_RULE,
            decided_at=decision.command.at,
            rests_on=(action.version,),
        ),
    )


def _reverse_void(decision: Decision, action: ReverseRuling) -> None:
    """Settle the hand as it ended (section 5); HandFinished, which says how, is the event behind the HandVoided."""
    hand, table = decision.hand, decision.table
    outcome = outcome_of(hand, _places(hand))
    decision.emit(
        VoidReversed(
            hand=hand.number,
            reverses=action.version,
            note=action.note,
            rule=_RULE,
            decided_at=decision.command.at,
            rests_on=(action.version, action.version + 1),
            places=outcome.places,
            points=settle(decision.ruleset, outcome),
            emperor=outcome.emperor,
            guard=outcome.guard,
            solo=outcome.solo,
            surrendered=outcome.surrendered,
            doublings=doublings(decision.ruleset, outcome),
            players=hand.players,
            ruleset=table.ruleset.id,
            options=table.options,
            open_guard=outcome.open_guard,
            revolt=outcome.revolt,
            kicked=outcome.kicked,
        ),
    )


def _places(hand: Hand) -> tuple[int, ...]:
    if hand.result is None:
        raise ValueError("a hand that is void is over")
    return hand.result.places
