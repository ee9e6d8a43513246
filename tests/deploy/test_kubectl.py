"""The page's commands of kubectl: it understands each, and what they name is there."""

import os
import re
import shlex
import subprocess
from collections.abc import Sequence
from typing import Final

import pytest

from command_line.main import _FUNCTIONS
from deploy.pods import OPERATOR, workloads
from deploy.rendering import KUBECTL, MOST, Combination, of_kind
from deploy.tree import KUBERNETES, ROOT

WHOLE: Final = Combination("production", MOST)
NOBODY: Final = "--server=http://127.0.0.1:9"
"""Where no cluster is: a command that kubectl understands gets as far as here."""
OF_THE_CHART: Final = ("statefulset", "nats")
_KINDS: Final = {"deployment": "Deployment", "statefulset": "StatefulSet", "job": "Job"}


def written() -> Sequence[str]:
    """Return each command of kubectl, whether in a block or in a line of text; not those of plugins, nor bare verbs."""
    page = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    blocks = re.compile(r"^```.*?\n(.+?)^```", re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks.findall(page) for line in block.splitlines()]
    lines += [" ".join(code.split()) for code in re.findall(r"`([^`]+)`", blocks.sub("", page))]
    parts = {part.strip() for line in lines for part in re.split(r" &&(?: |$)| > | < |; ", line)}
    return sorted(part for part in parts if re.match(r"kubectl (?!cnpg)\S+ \S", part))


COMMANDS: Final = written()


def test_there_are_commands() -> None:
    """Of every kind that the page has."""
    assert len(COMMANDS) > 25


@pytest.mark.parametrize("command", COMMANDS)
def test_kubectl_understands_it(command: str) -> None:
    """It asks the cluster, and has nothing to say against the words."""
    named = command.replace("OVERLAY", str(KUBERNETES / "overlays/production"))
    words = shlex.split(re.sub(r"\S+/kubernetes\.yaml", str(KUBERNETES / "base/namespace.yaml"), named))
    told = {**os.environ, "KUBECONFIG": os.devnull}
    asking = [str(KUBECTL), words[1], NOBODY, *words[2:]]
    done = subprocess.run(asking, env=told, capture_output=True, text=True, check=False, cwd=ROOT)  # noqa: S603 - a wheel's
    assert "127.0.0.1:9" in done.stderr, f"{command}: {done.stderr}"


@pytest.mark.parametrize("command", COMMANDS)
def test_what_it_names_is_there(command: str) -> None:
    """Deployments, Jobs, the pod for commands and its containers, and our own commands that are run in it."""
    for kind, name in re.findall(r"\b(deployment|statefulset|job)[/ ]([a-z]+)", command):
        there = {one["metadata"]["name"] for one in of_kind(WHOLE, _KINDS[kind])}
        assert name in there or (kind, name) == OF_THE_CHART
    (operator,) = [one for one in workloads(WHOLE) if one.name == OPERATOR]
    containers = {str(one["name"]) for one in operator.containers}
    if f"{OPERATOR}-0" in command:
        assert set(re.findall(r"--container (\w+)", command)) <= containers
    assert set(re.findall(r"-- baohuang ([a-z-]+)", command)) <= set(_FUNCTIONS)


@pytest.mark.parametrize("command", [one for one in COMMANDS if "-- baohuang health" in one])
def test_who_is_asked_in_a_pod_serves_there(command: str) -> None:
    """At the port of its probes in the clear; at the one of calls by the name that its certificate has."""
    (asked,) = re.findall(r"deployment/(\w+)", command)
    (service,) = [one for one in workloads(WHOLE) if one.name == asked]
    ports = {one["name"]: one["containerPort"] for one in service.container["ports"]}
    way, name = ("--in-the-clear", "probe") if "--in-the-clear" in command else (f"--name {asked}", "grpc")
    assert command.endswith(f"-- baohuang health {way} 127.0.0.1:{ports[name]}")


def test_everything_is_stopped_and_started() -> None:
    """Every Deployment by its name: one left out would write into the database that is restored."""
    served = {one.name for one in workloads(WHOLE) if one.kind == "Deployment"}
    (stop,) = [one for one in COMMANDS if "--replicas=0 deployment" in one]
    assert set(re.findall(r"deployment/(\w+)", stop)) == served
    (gone,) = [one for one in COMMANDS if "--for=delete" in one]
    (listed,) = re.findall(r"in \((.+?)\)", gone)
    assert set(listed.split(", ")) == served
    (start,) = [one for one in COMMANDS if "--replicas=2 deployment" in one]
    scaled = {
        one["spec"]["scaleTargetRef"]["name"] for one in of_kind(WHOLE, "HorizontalPodAutoscaler", "ScaledObject")
    }
    assert set(re.findall(r"deployment/(\w+)", start)) >= scaled
