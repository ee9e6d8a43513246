"""Alerts look back far enough to see something, and come soon enough to be of use."""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, Final

import promql_parser
import pytest

from deploy.rendering import of_kind
from deploy.test_monitoring import WHOLE, expressions, rules

_PARTS: Final = {"h": "hours", "m": "minutes", "s": "seconds"}
SAMPLES: Final = 4
"""How many a range has at least: growth is seen from two on, and one scrape may fail."""
LONGEST_RANGE: Final = timedelta(hours=1)
SOON: Final = {"critical": timedelta(minutes=5), "warning": timedelta(hours=1)}
"""How long what is wrong may have to last before it is said."""


def seconds_of(text: str) -> timedelta:
    """Return a duration of Prometheus's: 15s, 1h30m."""
    parts = re.findall(r"(\d+)([hms])", text)
    assert "".join(number + unit for number, unit in parts) == text
    return timedelta(**{_PARTS[unit]: int(number) for number, unit in parts})


def monitor() -> Any:
    (found,) = of_kind(WHOLE, "ServiceMonitor")
    return found["spec"]


def ranges(expression: str) -> Iterator[timedelta]:
    """Yield how far an expression looks back, wherever it does."""
    found: list[timedelta] = []

    def look(node: Any) -> None:
        if isinstance(node, promql_parser.MatrixSelector):
            found.append(node.range)

    promql_parser.walk(promql_parser.parse(expression), pre_visit=look)
    return iter(found)


def test_there_are_ranges() -> None:
    """Of alerts, panels and autoscalers."""
    assert sum(1 for one in expressions() for _ in ranges(one)) > 20


@pytest.mark.parametrize("expression", list(expressions()))
def test_a_range_has_samples_in_it(expression: str) -> None:
    """Some at the interval of the scrapes, or growth would never be seen; and it does not go on for long after."""
    (endpoint,) = monitor()["endpoints"]
    least = SAMPLES * seconds_of(endpoint["interval"])
    assert all(least <= one <= LONGEST_RANGE for one in ranges(expression))


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule["alert"])
def test_an_alert_comes_in_time(rule: Any) -> None:
    """What is critical within minutes, a warning within the hour."""
    assert seconds_of(rule["for"]) <= SOON[rule["labels"]["severity"]]


def test_jobs_are_called_as_the_alerts_have_it() -> None:
    """The monitor takes the name from a label that each Service has, and with its Deployment's name as the value."""
    label = monitor()["jobLabel"]
    wanted = monitor()["selector"]["matchLabels"].items()
    names = {
        one["metadata"]["labels"][label]
        for one in of_kind(WHOLE, "Service")
        if wanted <= one["metadata"]["labels"].items()
    }
    asked = {name for rule in rules() for name in re.findall(r'absent\(\w+\{job="(\w+)"\}\)', rule["expr"])}
    assert names == asked
