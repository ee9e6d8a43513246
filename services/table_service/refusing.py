"""From what the rules refuse to what the caller is told (one place)."""

from baohuang.rpc.errors import (
    IllegalMove,
    MalformedInput,
    NotFound,
    PermissionDenied,
    Reason,
    Refusal,
)
from baohuang.rules import refusals as rules
from baohuang.rules.rulesets import OptionError, UnknownRulesetError


def refusal_of(refused: Exception) -> Refusal:
    """Return the refusal to answer with. Anything that is not one is a bug, and raised as it is."""
    match refused:
        case Refusal():
            return refused
        case rules.RefusedError():
            return _of_rules(refused)
        case UnknownRulesetError():
            return MalformedInput.field("ruleset", str(refused), Reason.UNKNOWN_RULESET)
        case OptionError():
            return MalformedInput.field(f"options.{refused.option}", str(refused), Reason.OPTION_NOT_OFFERED)
        case _:
            raise refused


def _of_rules(refused: rules.RefusedError) -> Refusal:
    reason = Reason(refused.reason.value)
    rule = {"rule": refused.rule}
    match refused.reason:
        case rules.Refusal.NO_SUCH_TABLE:
            return NotFound(reason, refused.message, rule)
        case rules.Refusal.NOT_SEATED:
            return PermissionDenied(reason, refused.message, rule)
        case rules.Refusal.NO_SUCH_SEAT:
            return MalformedInput.field("seat", refused.message, reason)
        case rules.Refusal.ENTROPY_TOO_LONG:
            return MalformedInput.field("entropy", refused.message, reason)
        case _:
            return IllegalMove(reason, refused.message, refused.rule)
