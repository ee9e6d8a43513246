"""Who reaches whom: what the NetworkPolicies of a combination come to, both ways, as a cluster reads them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from deploy.pods import Workload, workloads
from deploy.rendering import Combination, of_kind
from deploy.tree import KUBERNETES, loaded

OURS: Final = "baohuang"
"""The namespace that the policies are in."""
_NAME: Final = "kubernetes.io/metadata.name"


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod as policies see it: its namespace, its labels, and its ports that have names."""

    namespace: str
    labels: Mapping[str, str] = field(default_factory=dict)
    ports: Mapping[str, int] = field(default_factory=dict)


def pod_of(workload: Workload) -> Pod:
    """Return a pod of ours."""
    ports = {one["name"]: one["containerPort"] for one in workload.container.get("ports", [])}
    return Pod(OURS, workload.labels, ports)


def database_of(combination: Combination) -> Pod:
    """Return a pod of the database: ours, or CloudNativePG's, with the labels that its cluster hands on."""
    for one in of_kind(combination, "Cluster"):
        labels = {"cnpg.io/cluster": one["metadata"]["name"], **one["spec"]["inheritedMetadata"]["labels"]}
        return Pod(OURS, labels)
    return _of_role(combination, "database")


def stream_of(combination: Combination) -> Pod:
    """Return a pod of NATS: ours, or one that its Helm chart makes, with the labels that its values say."""
    if combination.overlay != "production":
        return _of_role(combination, "stream")
    values: Any = loaded(KUBERNETES / "overlays/production/nats-values.yaml")
    chart = {"app.kubernetes.io/name": "nats", "app.kubernetes.io/instance": "nats"}
    return Pod(OURS, chart | values["podTemplate"]["merge"]["metadata"]["labels"])


def _of_role(combination: Combination, role: str) -> Pod:
    (found,) = [one for one in workloads(combination) if one.labels.get("baohuang-role") == role]
    return pod_of(found)


def reaches(combination: Combination, source: Pod, target: Pod, port: int, protocol: str = "TCP") -> bool:
    """Tell whether one may connect to another: out of the one and into the other."""
    leaves = _allowed(combination, "Egress", source, target, (target, port, protocol))
    return leaves and _allowed(combination, "Ingress", target, source, (target, port, protocol))


_Port = tuple[Pod, int, str]


def _allowed(combination: Combination, way: str, pod: Pod, other: Pod, port: _Port) -> bool:
    """Tell whether a pod's policies let something through: all of it where no policy is about that pod and that way."""
    if pod.namespace != OURS:
        return True
    specs = [one["spec"] for one in of_kind(combination, "NetworkPolicy")]
    about = [one for one in specs if way in one["policyTypes"] and _chosen(one["podSelector"], pod.labels)]
    rules = [rule for one in about for rule in one.get(way.lower()) or []]
    peers = "to" if way == "Egress" else "from"
    return not about or any(_lets(rule.get(peers), other) and _opens(rule.get("ports"), port) for rule in rules)


def _lets(peers: Iterable[Any] | None, pod: Pod) -> bool:
    return peers is None or any(_is(peer, pod) for peer in peers)


def _is(peer: Mapping[str, Any], pod: Pod) -> bool:
    if "ipBlock" in peer:
        return False
    place = peer.get("namespaceSelector")
    here = pod.namespace == OURS if place is None else _chosen(place, {_NAME: pod.namespace})
    return here and _chosen(peer.get("podSelector", {}), pod.labels)


def _opens(ports: Iterable[Any] | None, wanted: _Port) -> bool:
    target, number, protocol = wanted
    return ports is None or any(
        one["protocol"] == protocol and target.ports.get(one["port"], one["port"]) == number for one in ports
    )


def _chosen(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Tell whether a selector chooses these labels; `In` is all the operators that are used here."""
    assert selector.keys() <= {"matchLabels", "matchExpressions"}
    asked = selector.get("matchExpressions", [])
    assert all(one["operator"] == "In" for one in asked)
    return selector.get("matchLabels", {}).items() <= labels.items() and all(
        labels.get(one["key"]) in one["values"] for one in asked
    )
