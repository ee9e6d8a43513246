"""From what the rules refuse to what the caller is told (one place)."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

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
from baohuang.rules.state import TableId

_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


def no_such_table(table_id: TableId) -> NotFound:
    """Return the one refusal of a table that is not there, or that the caller may not know of."""
    return NotFound(Reason.NO_SUCH_TABLE, f"there is no table {table_id!r}")


def refusal_of(refused: Exception, metadata: Mapping[str, str] = _NOTHING) -> Refusal:
    """Return the refusal to answer with, `metadata` beside the rule. Anything else is a bug, and raised as it is."""
    match refused:
        case Refusal():
            return refused
        case rules.RefusedError():
            return _of_rules(refused, metadata)
        case UnknownRulesetError():
            return MalformedInput.field("ruleset", str(refused), Reason.UNKNOWN_RULESET)
        case OptionError():
            return MalformedInput.field(f"options.{refused.option}", str(refused), Reason.OPTION_NOT_OFFERED)
        case _:
            raise refused


def _of_rules(refused: rules.RefusedError, metadata: Mapping[str, str]) -> Refusal:
    reason = Reason(refused.reason.value)
    if refused.player:
        metadata = {**metadata, "player": refused.player}
    rule = {"rule": refused.rule, **metadata}
    match refused.reason:
        case rules.Refusal.NO_SUCH_TABLE:
            return NotFound(reason, refused.message, rule)
        case rules.Refusal.NOT_SEATED | rules.Refusal.BANNED:
            return PermissionDenied(reason, refused.message, rule)
        case rules.Refusal.NO_SUCH_SEAT:
            return MalformedInput.field("seat", refused.message, reason)
        case rules.Refusal.ENTROPY_TOO_LONG:
            return MalformedInput.field("entropy", refused.message, reason)
        case _:
            return IllegalMove(reason, refused.message, refused.rule, metadata)
