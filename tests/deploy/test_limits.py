"""What scales has room: connections to the database for all replicas there may be, streams through the gateway."""

import inspect
import re
from typing import Any, Final

import pytest

import matchmaking_service.wiring
import rating_service.wiring
import scoring_service.wiring
from baohuang.eventlog.postgres.log import open_log
from deploy.pods import OPERATOR, workloads
from deploy.rendering import ALL, MOST, Combination, of_kind
from deploy.tree import DEPLOY
from table_service import relaying
from table_service.history import wiring as history

WHOLE: Final = Combination("production", MOST)
CHANGING: Final = 2
"""Replicas above their number in a rollout: the one that comes (`maxSurge`), and one that is still ending."""
OTHERS: Final = 20
"""Connections for others: the migration, operators, a backup, the database's own operator, superusers."""
START_SECONDS: Final = 60
"""What a replica may take to start on a busy machine."""


def connections() -> dict[str, int]:
    """Return how many connections a replica of each service holds at most, as its wiring opens them."""
    record = 2 * history._CONNECTIONS
    log = 1 + int(inspect.signature(open_log).parameters["readers"].default)
    return {
        "table": log + record + relaying._CONNECTIONS,
        "scoring": scoring_service.wiring._CONNECTIONS,
        "rating": rating_service.wiring._CONNECTIONS,
        "matchmaking": matchmaking_service.wiring._CONNECTIONS,
        "history": record,
    }


def most(combination: Combination) -> dict[str, int]:
    """Return how many replicas of each service there may be."""
    fixed = {
        one.name: one.document["spec"]["replicas"]
        for one in workloads(combination)
        if one.is_ours and "replicas" in one.document["spec"]
    }
    scaled = {
        one["spec"]["scaleTargetRef"]["name"]: one["spec"].get("maxReplicas") or one["spec"]["maxReplicaCount"]
        for one in of_kind(combination, "HorizontalPodAutoscaler", "ScaledObject")
    }
    return fixed | scaled


def max_connections(combination: Combination) -> int:
    for one in of_kind(combination, "Cluster"):
        return int(one["spec"]["postgresql"]["parameters"]["max_connections"])
    (database,) = [one for one in workloads(combination) if one.name == "postgres"]
    (told,) = [text for text in database.container["args"] if text.startswith("max_connections=")]
    return int(told.removeprefix("max_connections="))


@pytest.mark.parametrize("combination", ALL, ids=str)
def test_the_database_has_a_connection_for_everybody(combination: Combination) -> None:
    """With every service at the most replicas that there may be, all of them being replaced at once."""
    replicas = most(combination)
    wanted = sum((replicas[name] + CHANGING) * each for name, each in connections().items())
    assert wanted + OTHERS <= max_connections(combination)


def test_operators_are_told_how_many() -> None:
    """How many connections a replica holds, wherever the page says it, and how many production's database takes."""
    page = (DEPLOY.parent / "docs/operations.md").read_text(encoding="utf-8")
    each = connections()
    assert each["scoring"] == each["rating"]
    told = re.findall(r"table (\d+), scoring and rating (\d+), matchmaking (\d+), history (\d+)", page)
    expected = tuple(str(each[name]) for name in ("table", "scoring", "matchmaking", "history"))
    assert set(told) == {expected}
    assert f"The overlay `production` has {max_connections(WHOLE)}" in page


def test_the_gateway_lets_through_what_replicas_carry() -> None:
    """Envoy bounds what is under way over all replicas of a service; watches are calls that last."""
    scalers = {one["metadata"]["name"]: one["spec"] for one in of_kind(WHOLE, "HorizontalPodAutoscaler")}
    table: Any = scalers["table"]
    targets = {one["pods"]["metric"]["name"]: one["pods"]["target"] for one in table["metrics"] if "pods" in one}
    each = int(targets["baohuang_watchers"]["averageValue"])
    for one in of_kind(WHOLE, "BackendTrafficPolicy"):
        bounds = one["spec"]["circuitBreaker"]
        for bound in ("maxConnections", "maxPendingRequests", "maxParallelRequests"):
            assert bounds[bound] >= 2 * each * table["maxReplicas"]


def test_a_replica_has_time_to_start() -> None:
    """Before Kubernetes takes it for broken and begins again."""
    for combination in ALL:
        for one in workloads(combination):
            if one.kind != "Job" and one.name != OPERATOR:
                probe = one.container["startupProbe"]
                assert probe["periodSeconds"] * probe["failureThreshold"] >= START_SECONDS
