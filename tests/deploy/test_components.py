"""What the components name of the code: services, streams, consumers, headers."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
import yaml

import scoring_service.wiring
from baohuang.client.affinity import TABLE_ID_KEY
from baohuang.stream.applying import Subscription
from command_line.serving import SERVED
from deploy.pods import workloads
from deploy.rendering import ALL, MOST, Combination, kustomized, most_over, of_kind
from deploy.schemas import check
from deploy.served import services_of
from deploy.tree import DEPLOY, KUBERNETES, inside

WHOLE: Final = Combination("production", MOST)
LAG_IS_TOLD_AT: Final = "nats-headless.baohuang:8222"


def test_every_call_has_a_route() -> None:
    """From outside each gRPC service is reached under its own name, at the port of the Service that serves it."""
    routed: dict[str, str] = {}
    for route in of_kind(WHOLE, "GRPCRoute"):
        (rule,) = route["spec"]["rules"]
        (backend,) = rule["backendRefs"]
        (port,) = [
            one["spec"]["ports"] for one in of_kind(WHOLE, "Service") if one["metadata"]["name"] == backend["name"]
        ]
        assert backend["port"] == port[0]["port"]
        routed |= {match["method"]["service"]: backend["name"] for match in rule["matches"]}
    served = {service: name for name in SERVED if name != "history" for service in services_of(name)}
    assert routed == served | dict.fromkeys(services_of("history"), "history")


def test_tables_have_affinity_by_the_header_that_clients_send() -> None:
    """And only tables; no call is cut by the proxy's own patience."""
    policies = {one["metadata"]["name"]: one["spec"] for one in of_kind(WHOLE, "BackendTrafficPolicy")}
    hashed = {name: spec["loadBalancer"].get("consistentHash") for name, spec in policies.items()}
    assert {name for name, by in hashed.items() if by} == {"table"}
    assert hashed["table"] == {"type": "Headers", "headers": [{"name": TABLE_ID_KEY}]}
    assert {spec["timeout"]["http"]["requestTimeout"] for spec in policies.values()} == {"0s"}
    assert {spec["targetRefs"][0]["name"] for spec in policies.values()} == {
        one["metadata"]["name"] for one in of_kind(WHOLE, "GRPCRoute")
    }


def test_the_gateway_calls_over_tls_what_serves_over_tls() -> None:
    """Every Service that a route leads to, at the host name by which services call each other; it shows its own too."""
    policies = {one["metadata"]["name"]: one["spec"] for one in of_kind(WHOLE, "BackendTLSPolicy")}
    routed = {one["spec"]["rules"][0]["backendRefs"][0]["name"] for one in of_kind(WHOLE, "GRPCRoute")}
    services = {one["metadata"]["name"]: one["spec"] for one in of_kind(WHOLE, "Service")}
    assert policies.keys() == routed
    for name, spec in policies.items():
        (target,) = spec["targetRefs"]
        (port,) = [one for one in services[target["name"]]["ports"] if one["name"] == target["sectionName"]]
        assert (target["kind"], target["name"], port["port"]) == ("Service", name, 50051)
        assert "appProtocol" not in port
        assert spec["validation"]["hostname"] == name
    (gateway,) = of_kind(WHOLE, "Gateway")
    assert gateway["spec"]["tls"]["backend"]["clientCertificateRef"]["name"] == "gateway-client-tls"
    in_the_clear = of_kind(Combination("production", ("gateway",)), "BackendTLSPolicy")
    assert in_the_clear == []
    for one in workloads(WHOLE):
        for variable, address in one.told().items():
            if variable.endswith("_ADDRESS"):
                assert str(address).partition(":")[0] in policies


def test_whoever_calls_the_database_knows_its_authority() -> None:
    """In production: each container that is told of it has the file that the DSN names, PostgreSQL's programs too."""
    told = [
        one
        for workload in workloads(WHOLE)
        for one in workload.containers
        if "BAOHUANG_POSTGRES_DSN" in {variable["name"] for variable in one.get("env", [])}
    ]
    assert len(told) > len(SERVED)
    for one in told:
        assert "/etc/baohuang/postgres" in {mount["mountPath"] for mount in one.get("volumeMounts", [])}


@pytest.mark.parametrize(
    ("policy", "variable", "port"),
    [("database-elsewhere", "BAOHUANG_POSTGRES_DSN", 5432), ("stream-elsewhere", "BAOHUANG_NATS_URL", 4222)],
)
def test_stores_elsewhere_are_reached_by_who_uses_them(policy: str, variable: str, port: int) -> None:
    """The database by those who are told of one, NATS by those who are told of it; where they are, an overlay says."""
    (way,) = [one["spec"] for one in of_kind(WHOLE, "NetworkPolicy") if one["metadata"]["name"] == policy]
    (selected,) = way["podSelector"]["matchExpressions"]
    (rule,) = way["egress"]
    assert set(selected["values"]) == {one.name for one in workloads(WHOLE) if one.is_ours and variable in one.told()}
    assert [one["port"] for one in rule["ports"]] == [port]
    assert rule["to"] == [{"ipBlock": {"cidr": "192.0.2.0/24"}}]


def test_the_patches_that_operators_are_told_of(tmp_path: Path) -> None:
    """All that the page has for an overlay over production renders, and stores are reached where it says."""
    page = (DEPLOY.parent / "docs/operations.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```yaml\npatches:\n(.+?)```", page, re.DOTALL)
    patches = "patches:\n" + "".join(blocks)
    overlay = os.path.relpath((KUBERNETES / "overlays/production").resolve(), tmp_path.resolve())
    (tmp_path / "kustomization.yaml").write_text(f"resources: [{overlay}]\n{patches}", encoding="utf-8")
    ways = {one["metadata"]["name"]: one["spec"] for one in kustomized(tmp_path) if one["kind"] == "NetworkPolicy"}
    (database,), (stream,) = (ways[f"{store}-elsewhere"]["egress"] for store in ("database", "stream"))
    assert [list(rule["to"][0]) for rule in (database, stream)] == [["ipBlock"], ["namespaceSelector"]]
    assert [list(one) for one in ways["postgres"]["ingress"][1]["from"]] == [["podSelector"], ["namespaceSelector"]]
    (cluster,) = [one["spec"] for one in kustomized(tmp_path) if one["kind"] == "Cluster"]
    assert cluster["imageName"].partition("/")[0] == "REGISTRY"
    for one in kustomized(tmp_path):
        check(one)


def test_namespaces_of_others_are_on_the_page() -> None:
    """Each that a policy lets in or leads to, with the place where an overlay changes it."""
    page = (DEPLOY.parent / "docs/operations.md").read_text(encoding="utf-8")
    row = re.compile(r"^\| .+? \| `([a-z-]+)`.*? \| `([a-z-]+)`, `/spec/(\w+)/(\d)/(\w+)/(\d)` \|$", re.MULTILINE)
    listed = row.findall(page)
    named = {
        (peer["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"], name, way, str(rule), end, str(place))
        for name, spec in ((one["metadata"]["name"], one["spec"]) for one in of_kind(WHOLE, "NetworkPolicy"))
        for way, end in (("ingress", "from"), ("egress", "to"))
        for rule, found in enumerate(spec.get(way, []))
        for place, peer in enumerate(found.get(end, []))
        if "namespaceSelector" in peer and peer["namespaceSelector"].get("matchLabels")
    }
    assert set(listed) == named


def test_the_lag_that_is_watched_is_the_consumers() -> None:
    """Their stream and their name in it, at the port where NATS tells it; not those of rating: one works at a time."""
    watched = {}
    for one in of_kind(WHOLE, "ScaledObject"):
        (trigger,) = one["spec"]["triggers"]
        told = trigger["metadata"]
        watched[one["spec"]["scaleTargetRef"]["name"]] = (told["stream"], told["consumer"])
        assert told["natsServerMonitoringEndpoint"] == LAG_IS_TOLD_AT
    assert watched == {"scoring": _names(scoring_service.wiring.SUBSCRIPTION)}


@pytest.mark.parametrize("overlay", ["dev", "kind"])
def test_the_lag_is_told_where_it_is_asked_for(overlay: str) -> None:
    """The name is that of a Service of the namespace, which has that port and leads to NATS's own."""
    combination = most_over(overlay)
    (service,) = [one for one in of_kind(combination, "Service") if one["metadata"]["name"] == "nats-headless"]
    (nats,) = [one for one in workloads(combination) if one.name == "nats"]
    (port,) = service["spec"]["ports"]
    assert f"{service['metadata']['name']}.{service['metadata']['namespace']}:{port['port']}" == LAG_IS_TOLD_AT
    assert service["spec"]["selector"].items() <= nats.labels.items()
    assert {"name": port["targetPort"], "containerPort": 8222} in nats.container["ports"]


def _names(subscription: Subscription) -> tuple[str, str]:
    return subscription.stream.name, subscription.consumer


def test_streams_are_kept_by_three_where_there_are_three() -> None:
    """And by one where there is one."""
    for combination in ALL:
        told = {one.name: one.told().get("BAOHUANG_STREAM_SERVERS") for one in workloads(combination)}
        makers = {name: told[name] for name in ("table", "scoring")}
        assert makers == dict.fromkeys(makers, "3" if combination.overlay == "production" else None)


def references(combination: Combination) -> Iterator[tuple[str, str]]:
    """Yield what the pods of a combination want: the name of a Secret or a map, and a key in it or ""."""
    for workload in workloads(combination):
        for one in inside(workload.pod):
            match one:
                case {"secretKeyRef": {"name": name, "key": key}}:
                    yield name, key
                case {"secretRef": {"name": name}} | {"secretName": name} | {"configMap": {"name": "jwks" as name}}:
                    yield name, ""


@pytest.mark.parametrize("overlay", ["dev", "kind"])
def test_development_has_every_secret(overlay: str, tmp_path: Path) -> None:
    """What `development_secrets.py` writes has each Secret, and each key in it, that the overlay refers to."""
    subprocess.run([sys.executable, DEPLOY / "development_secrets.py", tmp_path], check=True)  # noqa: S603 - ours
    written = list(yaml.safe_load_all((tmp_path / "kubernetes.yaml").read_text(encoding="utf-8")))
    for one in written:
        check(one)
    made = {(one["metadata"]["name"], key) for one in written for key in one.get("stringData", one.get("data"))}
    wanted = set(references(Combination(overlay)))
    assert len(wanted) > len(SERVED)
    assert {(name, key) for name, key in wanted if key} <= made
    assert {name for name, _ in wanted} == {name for name, _ in made}


@pytest.mark.parametrize("combination", ALL, ids=str)
def test_operators_are_told_of_every_secret(combination: Combination) -> None:
    """Those that pods refer to, and those that the database's cluster does."""
    operated = (DEPLOY.parent / "docs/operations.md").read_text(encoding="utf-8")
    assert not [name for name, _ in references(combination) if f"`{name}`" not in operated]
