"""Alerts, dashboard and autoscalers: they ask for what a running service tells, and say what is to be done."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import promql_parser
import pytest

from deploy.adapter import adapted
from deploy.pods import workloads
from deploy.promql import evaluate
from deploy.rendering import MOST, Combination, of_kind
from deploy.tree import DEPLOY, KUBERNETES, inside
from deploy.well import between, later, well
from metrics.documented import documented

WHOLE: Final = Combination("production", MOST)
_SUFFIXES: Final = {"histogram": ("_bucket", "_sum", "_count"), "counter": ("",), "gauge": ("",)}
_LANGUAGE: Final = frozenset(
    [
        "abs",
        "absent",
        "and",
        "avg_over_time",
        "bool",
        "by",
        "count_values",
        "histogram_quantile",
        "increase",
        "max",
        "max_over_time",
        "min",
        "or",
        "rate",
        "sum",
        "time",
        "unless",
        "without",
    ]
)
"""The words of PromQL that are used here; every other word has to be a metric or one of its labels."""
_OF_THE_TARGET: Final = frozenset({"pod", "namespace", "job"})
"""Labels that Prometheus adds to whatever it is told."""
_QUOTED: Final = re.compile(r'"[^"]*"')
_WORD: Final = re.compile(r"[A-Za-z_:][A-Za-z0-9_:]*")
_DURATION: Final = re.compile(r"\[\d+[smhd]\]")


def exported() -> dict[str, frozenset[str]]:
    """Return the names of samples that services tell, as the page for operators has them, each with its labels.

    `up` is Prometheus's own. Another test holds that page equal to what running services export.
    """
    return {"up": frozenset()} | {
        f"{one.name}{suffix}": frozenset((*one.labels, "le") if suffix == "_bucket" else one.labels)
        for one in documented().values()
        for suffix in _SUFFIXES[one.kind]
    }


def rules() -> list[Any]:
    (found,) = of_kind(WHOLE, "PrometheusRule")
    return [rule for group in found["spec"]["groups"] for rule in group["rules"]]


def dashboard() -> Any:
    return json.loads((KUBERNETES / "components/monitoring/baohuang.json").read_text(encoding="utf-8"))


def expressions() -> Iterator[str]:
    yield from (rule["expr"] for rule in rules())
    yield from (one["expr"] for one in inside(dashboard()) if isinstance(one, dict) and "expr" in one)
    for rule in adapted():
        yield rule.series
        yield rule.query(["table-0", "table-1"])


@pytest.mark.parametrize("expression", list(expressions()))
def test_what_is_asked_is_told(expression: str) -> None:
    """Every word is one of the language, a sample that a service tells, or a label of a sample in the expression."""
    known = exported()
    words = set(_WORD.findall(_DURATION.sub("", _QUOTED.sub("", expression)))) - _LANGUAGE
    samples = {word for word in words if word == "up" or word.startswith("baohuang_")}
    assert samples
    assert samples <= set(known)
    assert words - samples <= _OF_THE_TARGET.union(*(known[sample] for sample in samples))


@pytest.mark.parametrize("expression", list(expressions()))
def test_only_what_counts_up_has_a_rate(expression: str) -> None:
    """Growth is asked of counters and of histograms' parts; levels are asked for as they are, or as they were."""
    kinds = {one.name: one.kind for one in documented().values()}
    ranged: list[str] = []
    levels: list[str] = []
    plain: list[str] = []

    def look(node: Any) -> None:
        match node:
            case promql_parser.Call() if str(node.func.name).endswith("_over_time"):
                levels.extend(str(one.vector_selector.name) for one in node.args)
            case promql_parser.MatrixSelector():
                ranged.append(str(node.vector_selector.name))
            case promql_parser.VectorSelector():
                plain.append(str(node.name))

    promql_parser.walk(promql_parser.parse(expression), pre_visit=look)
    for name in ranged:
        plain.remove(name)  # walked through as well
    for name in levels:
        ranged.remove(name)
    plain += levels
    assert [name for name in ranged if kinds.get(name) == "gauge"] == []
    assert [name for name in plain if kinds.get(name) != "gauge" and name != "up"] == []


@pytest.mark.parametrize(
    "panel", [one for one in dashboard()["panels"] if one.get("targets")], ids=lambda one: one["title"]
)
def test_lines_of_a_panel_are_told_apart(panel: Any) -> None:
    """While all is well each has lines, and no two have one name: every label that a name is made of is there."""
    then = well()
    told = between(then, later(then))
    names = [
        _named(target["legendFormat"], dict(line))
        for target in panel["targets"]
        for line in evaluate(target["expr"], told)
    ]
    assert len(names) == len(set(names)) > 0


def _named(legend: str, labels: Mapping[str, str]) -> str:
    return re.sub(r"\{\{(\w+)\}\}", lambda found: labels[found[1]], legend)


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule["alert"])
def test_an_alert_says_what_to_do(rule: Any) -> None:
    """It names a section of the page for operators that is there, and how bad it is."""
    page, _, anchor = rule["annotations"]["runbook"].partition("#")
    headings = re.findall(r"^#+ (.+)$", (DEPLOY.parent / page).read_text(encoding="utf-8"), re.MULTILINE)
    assert anchor in {heading.lower().replace(" ", "-") for heading in headings}
    assert rule["labels"]["severity"] in {"critical", "warning"}
    assert rule["annotations"]["summary"]


def test_every_pod_of_ours_is_asked() -> None:
    """The monitor finds the Service of each by its labels, and the port that it names."""
    (monitor,) = of_kind(WHOLE, "ServiceMonitor")
    wanted = monitor["spec"]["selector"]["matchLabels"].items()
    (endpoint,) = monitor["spec"]["endpoints"]
    found = {
        one["metadata"]["name"]
        for one in of_kind(WHOLE, "Service")
        if wanted <= one["metadata"]["labels"].items()
        and endpoint["port"] in {port["name"] for port in one["spec"]["ports"]}
    }
    assert found == {one.name for one in workloads(WHOLE) if one.is_ours and one.kind == "Deployment"}
