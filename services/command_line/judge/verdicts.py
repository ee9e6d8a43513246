"""The verdict of each kind of case."""

import json
from collections.abc import Callable, Mapping
from math import isfinite
from types import MappingProxyType
from typing import Any, Final

from baohuang.rules.cards import in_order
from baohuang.rules.legal import legal_shapes
from baohuang.rules.plays import beats, shape_of
from baohuang.rules.settlement import Outcome, Solo, settle
from command_line.judge.hand_case import judge_hand
from command_line.judge.reading import (
    Case,
    CaseError,
    cards_in,
    flag_in,
    optional_seat_in,
    places_in,
    ruleset_of,
    seat_in,
    set_in,
    solo_in,
)

Verdict = dict[str, Any]


def judge_line(line: bytes) -> Verdict:
    """Return the verdict of one line of JSON in UTF-8, `{"id": …, "error": …}` if it is malformed."""
    try:
        return judge(_parsed(line))
    except CaseError as error:
        return {"id": None, "error": str(error)}
    except RecursionError:
        return {"id": None, "error": "nested too deeply"}


def _parsed(line: bytes) -> Case:
    try:
        case = json.loads(line, parse_constant=_no_constant, parse_float=_finite)
    except ValueError as error:
        raise CaseError(f"not JSON: {error}") from error
    if not isinstance(case, dict):
        raise CaseError("a case is a JSON object")
    return case


def _finite(number: str) -> float:
    value = float(number)
    if not isfinite(value):
        raise ValueError(f"{number} is too large")
    return value


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


def judge(case: Case) -> Verdict:
    """Return the verdict of one case, `{"id": …, "error": …}` if it is malformed."""
    kind = case.get("kind")
    judge_kind = _KINDS.get(kind) if isinstance(kind, str) else None
    if judge_kind is None:
        return {"id": case.get("id"), "error": f"kind: must be one of {', '.join(_KINDS)}"}
    try:
        return {"id": case.get("id"), **judge_kind(case)}
    except CaseError as error:
        return {"id": case.get("id"), "error": str(error)}


def _judge_beats(case: Case) -> Verdict:
    ruleset, _ = ruleset_of(case)
    on = set_in(case, "on")
    play = shape_of(cards_in(case.get("play"), "play"))
    return {"beats": play is not None and beats(play, on, ruleset.roast)}


def _judge_legal(case: Case) -> Verdict:
    ruleset, _ = ruleset_of(case)
    hand = in_order(cards_in(case.get("hand"), "hand"))
    on = set_in(case, "on") if case.get("on") else None
    return {"plays": sorted(map(str, legal_shapes(hand, on, ruleset.roast, ruleset.hold6)))}


def _judge_settle(case: Case) -> Verdict:
    ruleset, _ = ruleset_of(case)
    surrendered = flag_in(case, "surrendered")
    solo, guard = solo_in(case), optional_seat_in(case, "guard")
    if surrendered and not (ruleset.surrender and solo is Solo.HIDDEN):
        raise CaseError("surrendered: nobody can surrender here")
    outcome = Outcome(
        emperor=seat_in(case.get("emperor"), "emperor"),
        guard=None if solo else guard,
        solo=solo,
        places=() if surrendered else places_in(case),
        open_guard=flag_in(case, "open_guard"),
        revolt=flag_in(case, "revolt"),
        kicked=flag_in(case, "kicked"),
        surrendered=surrendered,
    )
    if solo is None and outcome.guard in {None, outcome.emperor}:
        raise CaseError("guard: without a solo it must be a seat other than the emperor's")
    return {"points": list(settle(ruleset, outcome))}


_KINDS: Final[Mapping[str, Callable[[Case], Verdict]]] = MappingProxyType(
    {"beats": _judge_beats, "legal": _judge_legal, "settle": _judge_settle, "hand": judge_hand},
)
