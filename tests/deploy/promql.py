"""As much of PromQL as alerts, dashboard and autoscalers use, computed over what services told at some moments."""

import math
import operator
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

import promql_parser as ast

NAME: Final = "__name__"
_COMPARE: Final[Mapping[str, Callable[[float, float], bool]]] = {
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
    ">=": operator.ge,
    "<=": operator.le,
    "!=": operator.ne,
}
_COMPUTE: Final[Mapping[str, Callable[[float, float], float]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda left, right: left / right if right else math.nan,
}
_OVER_TIME: Final[Mapping[str, Callable[[Sequence[float]], float]]] = {"avg_over_time": fmean, "max_over_time": max}
_AGGREGATE: Final[Mapping[str, Callable[[Sequence[float]], float]]] = {"sum": math.fsum, "max": max, "min": min}

Labels = frozenset[tuple[str, str]]
Vector = Mapping[Labels, float]
Value = float | Vector


@dataclass(frozen=True, slots=True)
class Told:
    """What was told at the beginning of every range that is asked for, and what is told now; `at` is in seconds.

    `amid` is what was told between, in order.
    """

    then: Vector
    now: Vector
    at: float
    amid: Sequence[Vector] = ()


def evaluate(expression: str, told: Told) -> Vector:
    """Return what an expression comes to: no sample, no alert."""
    found = _value(ast.parse(expression), told)
    assert not isinstance(found, float)
    return found


def _value(one: Any, told: Told) -> Value:
    match one:
        case ast.NumberLiteral():
            return float(one.val)
        case ast.ParenExpr():
            return _value(one.expr, told)
        case ast.VectorSelector():
            return _selected(one, told.now)
        case ast.Call():
            return _called(str(one.func.name), one.args, told)
        case ast.AggregateExpr():
            return _aggregated(one, _vector(one.expr, told))
        case ast.BinaryExpr():
            left, right = _value(one.lhs, told), _value(one.rhs, told)
            return _judged(str(one.op), left, right) if _is_bool(one) else _combined(str(one.op), left, right)
    raise AssertionError(f"{one.prettify()}: not computed here")


def _vector(one: Any, told: Told) -> Vector:
    found = _value(one, told)
    assert not isinstance(found, float)
    return found


def _selected(one: ast.VectorSelector, samples: Vector) -> Vector:
    asked = one.matchers.matchers
    return {
        labels: value
        for labels, value in samples.items()
        if (NAME, one.name) in labels and all(_matches(matcher, dict(labels)) for matcher in asked)
    }


def _matches(matcher: ast.Matcher, labels: Mapping[str, str]) -> bool:
    text = labels.get(matcher.name, "")
    if matcher.op == ast.MatchOp.Equal:
        return text == matcher.value
    if matcher.op == ast.MatchOp.NotEqual:
        return text != matcher.value
    return bool(re.fullmatch(matcher.value, text)) == bool(matcher.op == ast.MatchOp.Re)


def _called(name: str, arguments: Sequence[Any], told: Told) -> Value:
    if together := _OVER_TIME.get(name):
        return _over_time(together, arguments[0], told)
    match name:
        case "time":
            return told.at
        case "abs":
            return {_nameless(labels): abs(value) for labels, value in _vector(arguments[0], told).items()}
        case "increase" | "rate":
            seconds = arguments[0].range.total_seconds() if name == "rate" else 1.0
            return {labels: value / seconds for labels, value in _increase(arguments[0], told).items()}
        case "absent":
            found = _vector(arguments[0], told)
            equal = [one for one in arguments[0].matchers.matchers if one.op == ast.MatchOp.Equal]
            return {} if found else {frozenset((one.name, one.value) for one in equal): 1.0}
        case "histogram_quantile":
            return _quantile(_value(arguments[0], told), _vector(arguments[1], told))
    raise AssertionError(f"{name}: not computed here")


def _increase(one: ast.MatrixSelector, told: Told) -> Vector:
    """Return by how much each grew. One that was not told before began with what it has: nobody sees it grow."""
    selector = one.vector_selector
    before, after = _selected(selector, told.then), _selected(selector, told.now)
    return {_nameless(labels): value - before[labels] for labels, value in after.items() if labels in before}


def _over_time(together: Callable[[Sequence[float]], float], one: ast.MatrixSelector, told: Told) -> Vector:
    moments = [_selected(one.vector_selector, samples) for samples in (told.then, *told.amid, told.now)]
    found = _grouped((_nameless(labels), value) for samples in moments for labels, value in samples.items())
    return {labels: together(values) for labels, values in found.items()}


def _nameless(labels: Labels) -> Labels:
    return frozenset(one for one in labels if one[0] != NAME)


def _aggregated(one: ast.AggregateExpr, samples: Vector) -> Vector:
    assert one.modifier is None or one.modifier.type == ast.AggModifierType.By
    kept = set(one.modifier.labels) if one.modifier else set()
    return {
        labels: _AGGREGATE[str(one.op)](values)
        for labels, values in _grouped((_kept(labels, kept), value) for labels, value in samples.items()).items()
    }


def _kept(labels: Labels, names: Iterable[str]) -> Labels:
    return frozenset(one for one in labels if one[0] in names)


def _grouped(pairs: Iterable[tuple[Labels, Any]]) -> Mapping[Labels, list[Any]]:
    found: dict[Labels, list[Any]] = defaultdict(list)
    for labels, value in pairs:
        found[labels].append(value)
    return found


def _quantile(wanted: Value, buckets: Vector) -> Vector:
    """Return the bound of the bucket that a share of all is in; Prometheus goes on to guess where in it."""
    assert isinstance(wanted, float)
    by_series = _grouped(
        (frozenset(one for one in labels if one[0] != "le"), (float(dict(labels)["le"]), value))
        for labels, value in buckets.items()
    )
    found = {labels: sorted(bounds) for labels, bounds in by_series.items()}
    return {
        labels: next(bound for bound, number in bounds if number >= wanted * bounds[-1][1])
        for labels, bounds in found.items()
        if bounds[-1][1]
    }


def _combined(sign: str, left: Value, right: Value) -> Value:
    if isinstance(left, float):
        assert isinstance(right, float)
        return _COMPUTE[sign](left, right)
    if isinstance(right, float):
        return _with_number(sign, left, right)
    match sign:
        case "or":
            have = {_nameless(labels) for labels in left}
            return {**{labels: value for labels, value in right.items() if _nameless(labels) not in have}, **left}
        case "and" | "unless":
            there = {_nameless(labels) for labels in right}
            return {labels: value for labels, value in left.items() if (_nameless(labels) in there) == (sign == "and")}
    others = {_nameless(labels): value for labels, value in right.items()}
    pairs = {_nameless(labels): value for labels, value in left.items() if _nameless(labels) in others}
    return {labels: _COMPUTE[sign](value, others[labels]) for labels, value in pairs.items()}


def _is_bool(one: ast.BinaryExpr) -> bool:
    return one.modifier is not None and one.modifier.return_bool


def _judged(sign: str, left: Value, right: Value) -> Vector:
    """Return 1 for each that compares so with a number, 0 for each that does not: NaN never does."""
    assert not isinstance(left, float)
    assert isinstance(right, float)
    return {_nameless(labels): float(_COMPARE[sign](value, right)) for labels, value in left.items()}


def _with_number(sign: str, left: Vector, right: float) -> Vector:
    if sign in _COMPARE:
        return {labels: value for labels, value in left.items() if _COMPARE[sign](value, right)}
    return {_nameless(labels): _COMPUTE[sign](value, right) for labels, value in left.items()}
