"""Who reaches whom: everybody whom he needs, and nobody else, by what the NetworkPolicies come to both ways."""

from typing import Final

import pytest

from command_line.serving import SERVED
from deploy.pods import Workload, workloads
from deploy.rendering import ALL, Combination
from deploy.ways import Pod, database_of, pod_of, reaches, stream_of

EACH: Final = [one for combination in ALL for one in workloads(combination)]
OURS: Final = [one for one in EACH if one.is_ours]
SERVING: Final = [one for one in OURS if one.kind == "Deployment"]
NAMES: Final = Pod("kube-system", {"k8s-app": "kube-dns"})
"""What Kubernetes itself calls its resolver, whichever it is."""
PROMETHEUS: Final = Pod("monitoring")
KEDA: Final = Pod("keda")
STRANGER: Final = Pod("elsewhere", {"app.kubernetes.io/name": "table", "app.kubernetes.io/part-of": "baohuang"})
"""Somebody of another namespace, whatever he calls himself."""


@pytest.mark.parametrize("workload", OURS, ids=str)
def test_stores_are_reached_by_who_is_told_of_them(workload: Workload) -> None:
    """Out of the pod and into the store: the database by those with a DSN, NATS by those with its address."""
    combination, told, pod = workload.combination, workload.told(), pod_of(workload)
    assert reaches(combination, pod, database_of(combination), 5432) == ("BAOHUANG_POSTGRES_DSN" in told)
    assert reaches(combination, pod, stream_of(combination), 4222) == ("BAOHUANG_NATS_URL" in told)


@pytest.mark.parametrize("combination", ALL, ids=str)
def test_stores_are_reached_by_nobody_else(combination: Combination) -> None:
    """No stranger; KEDA where NATS tells the lag, and only there."""
    database, stream = database_of(combination), stream_of(combination)
    for port in (5432, 8000, 9187):
        assert not reaches(combination, STRANGER, database, port)
    for port in (4222, 6222, 8222):
        assert not reaches(combination, STRANGER, stream, port)
        assert reaches(combination, KEDA, stream, port) == (port == 8222)


def test_nodes_of_the_stores_reach_each_other() -> None:
    """In production: those of NATS by their routes; those of the database, and the operator that watches over them."""
    (production,) = [one for one in ALL if one.overlay == "production"]
    database, stream = database_of(production), stream_of(production)
    assert reaches(production, stream, stream, 6222)
    assert reaches(production, database, database, 5432)
    assert all(reaches(production, Pod("cnpg-system"), database, port) for port in (5432, 8000))
    assert not reaches(production, database, stream, 4222)


@pytest.mark.parametrize("workload", EACH, ids=str)
def test_names_are_found(workload: Workload) -> None:
    """By every pod of ours that calls anybody, over UDP and TCP."""
    pod = pod_of(workload)
    assert all(reaches(workload.combination, pod, NAMES, 53, protocol) for protocol in ("UDP", "TCP"))
    assert not reaches(workload.combination, pod, Pod("kube-system"), 53, "UDP")
    assert not reaches(workload.combination, pod, NAMES, 80)


@pytest.mark.parametrize("workload", SERVING, ids=str)
def test_who_comes_in(workload: Workload) -> None:
    """Prometheus where metrics are told; callers where calls are served, which bots do not; nobody anywhere else."""
    combination, pod = workload.combination, pod_of(workload)
    assert reaches(combination, PROMETHEUS, pod, pod.ports["metrics"])
    open_to_all = {name for name, port in pod.ports.items() if reaches(combination, STRANGER, pod, port)}
    assert open_to_all == ({"grpc"} if workload.name != "bots" else set())


@pytest.mark.parametrize("combination", ALL, ids=str)
def test_services_reach_whom_they_are_told_to_call(combination: Combination) -> None:
    """Each its own, out of the one and into the other, and no service another one."""
    pods = {one.name: one for one in workloads(combination) if one.is_ours and one.kind == "Deployment"}
    assert set(pods) == set(SERVED)
    for caller in pods.values():
        told = {str(text) for name, text in caller.told().items() if name.endswith(("_ADDRESS", "_TARGET"))}
        reached = {
            f"{name}:50051"
            for name, called in pods.items()
            if reaches(combination, pod_of(caller), pod_of(called), 50051)
        }
        assert reached == told
