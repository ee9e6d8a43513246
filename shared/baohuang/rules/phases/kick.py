"""KICK (踢): KICK-1."""

from baohuang.rules.decision import Decision
from baohuang.rules.events import KicksPublished
from baohuang.rules.phases.asking import seats_that_answered
from baohuang.rules.refusals import Refusal, RefusedError
from baohuang.rules.state import ALL_SEATS, Answer, Hand


def asked_to_kick(hand: Hand) -> tuple[int, ...]:
    """DECL-0: all but the emperor and a guard who is public."""
    return tuple(seat for seat in ALL_SEATS if seat not in {hand.roles.emperor, hand.roles.public_guard})


def check_kick(decision: Decision, seat: int, answer: Answer) -> None:
    """KICK-1: only an opponent of the crown may kick; a hidden guard is asked, and refused."""
    if answer is Answer.KICK and seat == decision.hand.roles.guard:
        raise RefusedError(Refusal.NOT_ELIGIBLE, "KICK-1", "the guard is no opponent of the crown")


def publish_kicks(decision: Decision) -> None:
    """KICK-1: publish who kicked; one kick or more doubles the points."""
    decision.emit(KicksPublished(seats_that_answered(decision.hand, lambda answer: answer is Answer.KICK)))
