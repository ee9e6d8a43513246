"""What the Prometheus adapter makes of its values: metrics that autoscalers can ask for, and its queries for them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import promql_parser

from deploy.tree import KUBERNETES, loaded
from deploy.ways import OURS

_VALUES: Final = KUBERNETES / "components/autoscaling-by-load/adapter-values.yaml"
_ANY: Final = {"matches": ".*", "as": "$0"}
"""What the adapter takes for a rule without a name."""


@dataclass(frozen=True, slots=True)
class Adapted:
    """A rule: `series` is what it looks for in Prometheus, `name` what autoscalers call the metric of each pod."""

    series: str
    name: str
    template: str

    def query(self, pods: Sequence[str]) -> str:
        """Return what is asked for the metric of these pods, as the adapter writes it."""
        told = {
            "Series": _family(self.series),
            "LabelMatchers": f'namespace="{OURS}",pod=~"{"|".join(pods)}"',
            "GroupBy": "pod",
        }
        return re.sub(r"<<\.(\w+)>>", lambda found: told[found[1]], self.template)


def adapted() -> list[Adapted]:
    """Read the rules of the values. Only that of theirs is understood which is made use of."""
    values: Any = loaded(_VALUES)
    assert values["rules"]["default"] is False
    return [_rule(one) for one in values["rules"]["custom"]]


def _rule(one: Any) -> Adapted:
    assert one["resources"] == {"overrides": {"namespace": {"resource": "namespace"}, "pod": {"resource": "pod"}}}
    named = one.get("name", _ANY)
    found = re.search(named["matches"], _family(one["seriesQuery"]))
    assert found
    name = found[0] if named["as"] == "$0" else named["as"]
    assert "$" not in name
    return Adapted(one["seriesQuery"], name, one["metricsQuery"])


def _family(series: str) -> str:
    selector: Any = promql_parser.parse(series)
    return str(selector.name)
