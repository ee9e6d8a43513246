"""What pods are told is taken by the very settings that read it, and every file that it names is mounted."""

import os
from collections.abc import Mapping
from typing import Any, Final

import pytest

from baohuang.tracing.settings import TraceSettings
from deploy.pods import Workload, workloads
from deploy.rendering import ALL, of_kind
from deploy.test_references import OF_A_CERTIFICATE, is_to_be_made
from deploy.told import PREFIX, SETTINGS

OURS: Final = [one for combination in ALL for one in workloads(combination) if one.is_ours]
SERVING: Final = [one for one in OURS if one.kind == "Deployment"]
FROM_ELSEWHERE: Final[Mapping[str, str]] = {
    "BAOHUANG_POSTGRES_DSN": "postgresql://login:hush@postgres-rw:5432/baohuang",
    "BAOHUANG_NATS_URL": "tls://user:hush@nats:4222",
    "BAOHUANG_SERVICE_TOKEN": "a.service.token",
    "BAOHUANG_REPLICA": "table-0",
}
"""What a Secret, or the pod itself, has instead of the tree."""


@pytest.mark.parametrize("workload", SERVING, ids=str)
def test_settings_take_what_is_told(workload: Workload, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each value is one that the service, and its traces, start with; none is out of bounds or of another kind."""
    for variable in [name for name in os.environ if name.startswith((PREFIX, "OTEL_"))]:
        monkeypatch.delenv(variable)
    told = workload.told()
    for variable, value in told.items():
        monkeypatch.setenv(variable, FROM_ELSEWHERE[variable] if value is None else value)
    settings, traces = SETTINGS[workload.name](), TraceSettings()
    assert settings.model_fields_set >= {one.removeprefix(PREFIX).lower() for one in told if one.startswith(PREFIX)}
    assert (traces.all_endpoint is not None) == ("tracing" in workload.combination.components)


@pytest.mark.parametrize("workload", OURS, ids=str)
def test_files_that_are_told_are_mounted(workload: Workload) -> None:
    """Each lies in a volume of the pod, whose map or Secret has it; nothing is told of a folder that is not there."""
    volumes = {one["name"]: one for one in workload.pod.get("volumes", [])}
    for container in workload.containers:
        mounts = {one["mountPath"]: volumes[one["name"]] for one in container.get("volumeMounts", [])}
        for variable in container.get("env", []):
            _check_file(workload, str(variable.get("value", "")), mounts)
    mounts = {one["mountPath"]: volumes[one["name"]] for one in workload.container.get("volumeMounts", [])}
    for value in workload.told().values():
        _check_file(workload, value or "", mounts)


def _check_file(workload: Workload, path: str, mounts: Mapping[str, Any]) -> None:
    if path.startswith("/"):
        folder, _, file = path.rpartition("/")
        assert folder in mounts, f"{path} is in no volume"
        assert _has(workload, mounts[folder], file), f"{path} is not in its volume"


def _has(workload: Workload, volume: Any, file: str) -> bool:
    source = volume.get("secret") or volume.get("configMap")
    assert source, f"{volume['name']} has no files of its own"
    if "items" in source:
        return file in {one["path"] for one in source["items"]}
    name = source.get("secretName") or source["name"]
    maps = {one["metadata"]["name"]: one["data"] for one in of_kind(workload.combination, "ConfigMap")}
    if name in maps:
        return file in maps[name]
    return file in OF_A_CERTIFICATE if name.endswith("-tls") else is_to_be_made(name, file)
