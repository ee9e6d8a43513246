"""SEIZE (抢独): SEIZE-1, SEIZE-2."""

from baohuang.rules.decision import Decision
from baohuang.rules.events import SeizePublished
from baohuang.rules.phases.asking import seats_that_answered
from baohuang.rules.rulesets import Guarding
from baohuang.rules.state import Answer, upstream_of


def publish_seize(decision: Decision) -> None:
    """SEIZE-1: the emperor comes first, then the nearest upstream of him. No card moves (SEIZE-2)."""
    hand = decision.hand
    if hand.roles.emperor is None:
        raise ValueError("nobody can seize before there is an emperor")
    seizers = seats_that_answered(hand, lambda answer: answer is Answer.SEIZE)
    winner = next((seat for seat in upstream_of(hand.roles.emperor) if seat in seizers), None)
    settled = winner is not None or decision.ruleset.guarding is Guarding.SWORD_CARD
    decision.emit(SeizePublished(seizers=seizers, winner=winner, roles_settled=settled))
