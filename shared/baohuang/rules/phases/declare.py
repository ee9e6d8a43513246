"""DECLARE (明保, 明独, 造反, 投降): DECL-0 to DECL-6."""

from baohuang.rules.decision import Decision
from baohuang.rules.events import DeclarationsPublished
from baohuang.rules.phases.asking import seats_that_answered
from baohuang.rules.refusals import Refusal, RefusedError
from baohuang.rules.rulesets import ALL_OPPONENTS, Guarding, Ruleset
from baohuang.rules.settlement import Solo
from baohuang.rules.state import ALL_SEATS, Answer, Hand


def asked_to_declare(ruleset: Ruleset, hand: Hand) -> tuple[int, ...]:
    """DECL-0: all five, except the emperor where he never has a choice."""
    return tuple(seat for seat in ALL_SEATS if ruleset.emperor_declares or seat != hand.roles.emperor)


def check_declaration(decision: Decision, seat: int, answer: Answer) -> None:
    """Raise RefusedError NOT_ELIGIBLE unless the declaration is this seat's to make (DECL-1, 2, 3, 5)."""
    ruleset, roles = decision.ruleset, decision.hand.roles
    hidden_solo = seat == roles.emperor and roles.solo is Solo.HIDDEN
    allowed, rule = {
        Answer.NONE: (True, "DECL-0"),
        Answer.OPEN_GUARD: (ruleset.open_guard and seat == roles.guard, "DECL-1"),
        Answer.OPEN_SOLO: (hidden_solo and ruleset.guarding is Guarding.SWORD_CARD, "DECL-2"),
        Answer.REVOLT: (bool(ruleset.revolt_threshold) and seat not in {roles.emperor, roles.guard}, "DECL-3"),
        Answer.SURRENDER: (ruleset.surrender and hidden_solo, "DECL-5"),
    }[answer]
    if not allowed:
        raise RefusedError(Refusal.NOT_ELIGIBLE, rule, f"{answer.name} is not yours to declare")


def publish_declarations(decision: Decision) -> None:
    """Publish all declarations together, with what they bring about."""
    hand = decision.hand
    revolters = seats_that_answered(hand, lambda answer: answer is Answer.REVOLT)
    open_guard = Answer.OPEN_GUARD in hand.answers
    open_solo = Answer.OPEN_SOLO in hand.answers
    surrendered = Answer.SURRENDER in hand.answers
    # DECL-5, DECL-6: a surrender, and an open solo of the same round, leave the revolts without effect.
    revolt = not (open_solo or surrendered) and _succeeds(decision.ruleset, hand, revolters)
    hidden_solo = hand.roles.solo is Solo.HIDDEN
    decision.emit(
        DeclarationsPublished(
            revolters=revolters,
            open_guard=open_guard,
            revolt=revolt,
            surrendered=surrendered,
            guard=hand.roles.guard if open_guard or revolt else None,
            solo=Solo.OPEN if open_solo else Solo.HIDDEN if hidden_solo and (revolt or surrendered) else None,
        ),
    )


def _succeeds(ruleset: Ruleset, hand: Hand, revolters: tuple[int, ...]) -> bool:
    """DECL-3: at least `threshold` seats revolted; ALL_OPPONENTS means every opponent of the crown."""
    if not revolters:
        return False
    opponents = len(ALL_SEATS) - (1 if hand.roles.solo else 2)
    threshold = opponents if ruleset.revolt_threshold == ALL_OPPONENTS else ruleset.revolt_threshold
    return len(revolters) >= threshold
