"""What every pod of every overlay holds to, whatever components are chosen."""

import re
from typing import Any, Final

import pytest

from command_line.serving import SERVED
from deploy.pods import OPERATOR, WORKLOADS, Workload, workloads
from deploy.rendering import ALL, Combination, of_kind, rendered
from deploy.served import services_of
from deploy.told import SETTINGS, listens, read_by
from deploy.tree import inside
from deploy.versions import image_of

EACH: Final = [one for combination in ALL for one in workloads(combination)]
OURS: Final = [one for one in EACH if one.is_ours]
SERVING: Final = [one for one in OURS if one.kind == "Deployment"]
SECONDS_TO_END: Final = 10.0
"""What a process takes after its calls have ended: its connections are closed, its last messages sent."""


def probes(workload: Workload) -> dict[str, Any]:
    return {name: workload.container[name] for name in ("startupProbe", "readinessProbe", "livenessProbe")}


@pytest.mark.parametrize("combination", ALL, ids=str)
def test_every_service_is_there(combination: Combination) -> None:
    """Each by its name, the migration, and where operators' commands are run."""
    ours = {one.name: one.container.get("args") for one in workloads(combination) if one.is_ours}
    assert ours == {**{name: ["serve", name] for name in SERVED}, "migration": ["migrate"], OPERATOR: None}


@pytest.mark.parametrize("workload", EACH, ids=str)
def test_nobody_is_root_or_may_write(workload: Workload) -> None:
    """As Pod Security's `restricted` demands, and beyond: a read-only file system, and no token of the cluster."""
    pod = workload.pod
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] > 0
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for container in workload.containers:
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
    assert pod["automountServiceAccountToken"] is False
    assert pod["enableServiceLinks"] is False
    assert not {"hostNetwork", "hostPID", "hostIPC", "initContainers"} & set(pod)
    assert not any("hostPath" in volume for volume in pod.get("volumes", []))


@pytest.mark.parametrize("workload", EACH, ids=str)
def test_everybody_has_limits_and_an_account(workload: Workload) -> None:
    """Requests and limits of both kinds, memory alike; a ServiceAccount of its own that is there."""
    for container in workload.containers:
        resources = container["resources"]
        assert set(resources["requests"]) == set(resources["limits"]) == {"cpu", "memory"}
        assert resources["requests"]["memory"] == resources["limits"]["memory"]
    accounts = {one["metadata"]["name"] for one in of_kind(workload.combination, "ServiceAccount")}
    assert workload.pod["serviceAccountName"] == workload.name
    assert workload.name in accounts


@pytest.mark.parametrize("workload", EACH, ids=str)
def test_images_are_the_tested_ones(workload: Workload) -> None:
    """By a tag that says a version, never `latest`: what the tests ran against."""
    for container in workload.containers:
        image = container["image"]
        assert image == image_of(image.partition(":")[0])


@pytest.mark.parametrize("combination", ALL, ids=str)
def test_no_host_is_named(combination: Combination) -> None:
    """Images come from wherever the cluster takes them; which place that is says the operator."""
    images = [text for one in rendered(combination) for text in _images(one)]
    assert len(images) > len(SERVED)
    assert not [text for text in images if "/" in text or re.search(r":latest$|^[^:@]+$", text)]


def _images(document: object) -> list[str]:
    return [
        text
        for one in inside(document)
        if isinstance(one, dict)
        for name, text in one.items()
        if name in {"image", "imageName"} and isinstance(text, str)
    ]


@pytest.mark.parametrize("workload", OURS, ids=str)
def test_each_is_told_what_it_reads(workload: Workload) -> None:
    """All that it needs, and nothing that it would not look at."""
    read = read_by(workload.container.get("args", []))
    told = set(workload.told())
    assert told <= set(read)
    assert {variable for variable, required in read.items() if required} <= told


@pytest.mark.parametrize("workload", OURS, ids=str)
def test_files_of_secrets_are_their_pod_s_to_read_alone(workload: Workload) -> None:
    """Where a mode is said: its owner reads it (and by `fsGroup` its group), nobody writes it, others see nothing."""
    modes = [
        one["secret"]["defaultMode"]
        for one in workload.pod.get("volumes", [])
        if "defaultMode" in one.get("secret", {})
    ]
    assert set(modes) <= {0o400}
    assert not modes or workload.pod["securityContext"]["fsGroup"]


@pytest.mark.parametrize("workload", OURS, ids=str)
def test_secrets_are_referred_to(workload: Workload) -> None:
    """No value of one stands in the tree: what is secret in the code comes from a Secret, and none is rendered."""
    secret = {variable for variable in workload.told() if variable.endswith(("_DSN", "_URL", "_TOKEN"))}
    for container in workload.containers:
        for variable in container.get("env", []):
            if variable["name"] in secret:
                assert set(variable["valueFrom"]) == {"secretKeyRef"}
    assert not of_kind(workload.combination, "Secret")


@pytest.mark.parametrize("workload", SERVING, ids=str)
def test_ports_are_those_it_listens_on(workload: Workload) -> None:
    """Where it serves, tells its health, tells its metrics: as the container is told, and its Service leads there."""
    told = workload.told()
    ports = {port["name"]: port["containerPort"] for port in workload.container["ports"]}
    assert told[listens(workload.name)] == f"0.0.0.0:{ports['grpc']}"
    assert told["BAOHUANG_PROBE_LISTEN"] == f"0.0.0.0:{ports['probe']}"
    services = {one["metadata"]["name"]: one["spec"] for one in workload.selected_by("Service")}
    assert services[workload.name]["clusterIP"] == "None"
    leads = {port["targetPort"]: port["port"] for port in services[workload.name]["ports"]}
    assert leads == {name: ports[name] for name in ("grpc", "metrics")}
    assert told["BAOHUANG_METRICS_LISTEN"] == f"0.0.0.0:{ports['metrics']}"


@pytest.mark.parametrize("workload", SERVING, ids=str)
def test_each_reaches_whom_it_calls(workload: Workload) -> None:
    """An address that it is told is that of a Service, and its NetworkPolicy lets it there."""
    called = {
        text.partition(":")[0]
        for variable, text in workload.told().items()
        if text and variable.endswith(("_ADDRESS", "_TARGET"))
    }
    assert called <= set(SERVED)
    assert called == _others_reached(workload)


def _others_reached(workload: Workload) -> set[str]:
    own = {one["metadata"]["name"]: one["spec"] for one in workload.selected_by("NetworkPolicy")}[workload.name]
    peers = [peer["podSelector"]["matchLabels"] for rule in own["egress"] for peer in rule["to"]]
    return {labels["app.kubernetes.io/name"] for labels in peers if "app.kubernetes.io/name" in labels}


@pytest.mark.parametrize("workload", OURS, ids=str)
def test_stores_are_reached_by_who_uses_them(workload: Workload) -> None:
    """The database by those who are told of one, NATS by those who are told of it."""
    own = {one["metadata"]["name"]: one["spec"] for one in workload.selected_by("NetworkPolicy")}[workload.name]
    peers = [peer["podSelector"]["matchLabels"] for rule in own["egress"] for peer in rule["to"]]
    reached = {labels["baohuang-role"] for labels in peers if "baohuang-role" in labels}
    told = workload.told()
    assert ("database" in reached) == ("BAOHUANG_POSTGRES_DSN" in told)
    assert ("stream" in reached) == ("BAOHUANG_NATS_URL" in told)


@pytest.mark.parametrize("workload", SERVING, ids=str)
def test_probes_ask_what_is_served(workload: Workload) -> None:
    """Start and readiness by the service's own name, liveness for the process; all natively, without TLS."""
    port = {port["name"]: port["containerPort"] for port in workload.container["ports"]}["probe"]
    asked = {name: probe["grpc"] for name, probe in probes(workload).items()}
    assert {probe["port"] for probe in asked.values()} == {port}
    assert "service" not in asked["livenessProbe"]
    served = services_of(workload.name)
    for probe in (asked["startupProbe"], asked["readinessProbe"]):
        assert ({probe["service"]} if "service" in probe else set()) <= served
        assert ("service" in probe) == bool(served)


@pytest.mark.parametrize("workload", SERVING, ids=str)
def test_the_grace_period_is_enough(workload: Workload) -> None:
    """The pod's time covers its sleep, the refusing of new calls, the drain of open ones, and the end."""
    fields: Any = SETTINGS[workload.name].model_fields
    told = workload.told()
    sleep = workload.container["lifecycle"]["preStop"]["sleep"]["seconds"]
    drain = float(told.get("BAOHUANG_DRAIN_GRACE_SECONDS") or fields["drain_grace_seconds"].default)
    refusing = float(told.get("BAOHUANG_REFUSE_SECONDS") or fields["refuse_seconds"].default)
    assert workload.pod["terminationGracePeriodSeconds"] >= sleep + refusing + drain + SECONDS_TO_END
    readiness = workload.container["readinessProbe"]
    assert sleep > 0
    assert readiness["periodSeconds"] * readiness["failureThreshold"] <= sleep + drain


@pytest.mark.parametrize("workload", SERVING, ids=str)
def test_a_rollout_takes_nobody_away_before_another_serves(workload: Workload) -> None:
    """One more comes, is ready, and only then one goes; they stand on several machines and in several zones."""
    strategy = workload.document["spec"]["strategy"]
    assert strategy == {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    spread = {one["topologyKey"]: one for one in workload.pod["topologySpreadConstraints"]}
    assert set(spread) == {"topology.kubernetes.io/zone", "kubernetes.io/hostname"}
    for one in spread.values():
        assert one["labelSelector"]["matchLabels"].items() <= workload.labels.items()


@pytest.mark.parametrize("workload", [one for one in EACH if one.kind != "Job" and one.name != OPERATOR], ids=str)
def test_disruptions_have_a_budget(workload: Workload) -> None:
    """One at a time, and never none: a budget that allows no disruption keeps a node from ever being drained."""
    (budget,) = workload.selected_by("PodDisruptionBudget")
    assert budget["spec"]["maxUnavailable"] == 1


@pytest.mark.parametrize("workload", EACH, ids=str)
def test_nobody_is_reached_but_as_said(workload: Workload) -> None:
    """Both ways are shut for every pod, and opened by a policy of its own."""
    policies = workload.selected_by("NetworkPolicy")
    shut = [one for one in policies if not {"ingress", "egress"} & set(one["spec"])]
    assert [set(one["spec"]["policyTypes"]) for one in shut] == [{"Ingress", "Egress"}]
    own = [one for one in policies if one["metadata"]["name"] == workload.name]
    assert [set(one["spec"]["policyTypes"]) for one in own] == [{"Ingress", "Egress"}]


@pytest.mark.parametrize("combination", ALL, ids=str)
def test_a_migration_can_go_before_the_rest(combination: Combination) -> None:
    """Its label chooses the Job, and what that needs: an account and a way to the database."""
    chosen = {
        (one["kind"], one["metadata"]["name"])
        for one in rendered(combination)
        if one["metadata"].get("labels", {}).get("app.kubernetes.io/name") == "migration"
    }
    assert chosen == {(kind, "migration") for kind in ("Job", "ServiceAccount", "NetworkPolicy")}
    (job,) = [one for one in workloads(combination) if one.kind == "Job"]
    assert "envFrom" not in job.container


@pytest.mark.parametrize("combination", ALL, ids=str)
def test_the_namespace_demands_it_too(combination: Combination) -> None:
    """The cluster itself refuses what is not restricted; everything is in that namespace."""
    (namespace,) = of_kind(combination, "Namespace")
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    name = namespace["metadata"]["name"]
    inner = [one for one in rendered(combination) if one["kind"] != "Namespace"]
    assert {one["metadata"]["namespace"] for one in inner} == {name}
    assert {one.kind for one in workloads(combination)} <= set(WORKLOADS)


def test_components_scale_what_is_there() -> None:
    """Whatever scales a Deployment names one, and then it has no number of its own."""
    for combination in ALL:
        deployments = {one.name: one.document["spec"] for one in workloads(combination) if one.kind == "Deployment"}
        scalers = of_kind(combination, "HorizontalPodAutoscaler", "ScaledObject")
        scaled = [one["spec"]["scaleTargetRef"]["name"] for one in scalers]
        assert len(scaled) == len(set(scaled)) > 0
        assert set(scaled) <= set(deployments)
        assert {name for name, spec in deployments.items() if "replicas" not in spec} == set(scaled)


def test_scaling_leaves_as_many_as_there_were() -> None:
    """No autoscaler goes below what the overlay `production` has without one, and that is two of each, bots apart."""
    counted = {
        one.name: one.document["spec"]["replicas"]
        for one in workloads(Combination("production"))
        if one.kind == "Deployment"
    }
    assert min(count for name, count in counted.items() if name != "bots") == 2
    (whole,) = [one for one in ALL if one.overlay == "production"]
    for scaler in of_kind(whole, "HorizontalPodAutoscaler", "ScaledObject"):
        spec = scaler["spec"]
        assert spec.get("minReplicas", spec.get("minReplicaCount")) >= counted[spec["scaleTargetRef"]["name"]]
