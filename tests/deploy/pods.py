"""The pods that an overlay makes: which of them are ours, and what their containers are told."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deploy.rendering import Combination, of_kind
from deploy.tree import Document

WORKLOADS = ("Deployment", "StatefulSet", "Job")
OPERATOR = "operator"
"""The pod for operators' commands, which nobody calls and which serves nothing."""


@dataclass(frozen=True, slots=True)
class Workload:
    """What makes pods, in a combination."""

    combination: Combination
    document: Document

    def __str__(self) -> str:
        return f"{self.combination.overlay}-{self.name}"

    @property
    def name(self) -> str:
        """Its own, and its pods' `app.kubernetes.io/name`."""
        return str(self.document["metadata"]["name"])

    @property
    def kind(self) -> str:
        """Deployment, StatefulSet or Job."""
        return str(self.document["kind"])

    @property
    def labels(self) -> Mapping[str, str]:
        """Its pods' labels."""
        found: Mapping[str, str] = self.document["spec"]["template"]["metadata"]["labels"]
        return found

    @property
    def pod(self) -> Any:
        """The specification of its pods."""
        return self.document["spec"]["template"]["spec"]

    @property
    def container(self) -> Any:
        """The one container of each, or of the operator's pod that which has our image."""
        first, *beside = self.pod["containers"]
        assert not beside or self.name == OPERATOR
        return first

    @property
    def containers(self) -> Sequence[Any]:
        """All of each: the operator's has PostgreSQL's programs in a second one."""
        found: Sequence[Any] = self.pod["containers"]
        return found

    @property
    def is_ours(self) -> bool:
        """Whether it runs this project's image."""
        return str(self.container["image"]).partition(":")[0] == "baohuang"

    def told(self) -> Mapping[str, str | None]:
        """Return the variables of its container; None is one whose value a Secret, or the pod itself, has."""
        settings = {one["metadata"]["name"]: one["data"] for one in of_kind(self.combination, "ConfigMap")}
        told: dict[str, str | None] = {}
        for source in self.container.get("envFrom", []):
            if "configMapRef" in source:
                told |= settings[source["configMapRef"]["name"]]
        return told | {one["name"]: one.get("value") for one in self.container.get("env", [])}

    def selected_by(self, kind: str) -> list[Document]:
        """Return the objects of a kind that choose its pods by their labels."""
        return [one for one in of_kind(self.combination, kind) if _chooses(one, self.labels)]


def workloads(combination: Combination) -> Iterator[Workload]:
    """Yield all of a combination."""
    return (Workload(combination, document) for document in of_kind(combination, *WORKLOADS))


def _chooses(one: Document, labels: Mapping[str, str]) -> bool:
    spec = one["spec"]
    selector = spec.get("podSelector", spec.get("selector"))
    wanted: Mapping[str, str] = selector.get("matchLabels", {}) if one["kind"] != "Service" else selector
    return wanted.items() <= labels.items()
