"""What an object names beside itself is there: in what is rendered, or in what operators are told to make."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest

from deploy.rendering import ALL, MOST, Combination, of_kind, rendered
from deploy.tree import DEPLOY, KUBERNETES, inside, loaded

WHOLE: Final = Combination("production", MOST)
OF_A_CERTIFICATE: Final = frozenset({"tls.crt", "tls.key", "ca.crt"})
_NAMED: Final[Mapping[str, tuple[str, str]]] = {
    "secretKeyRef": ("Secret", "name"),
    "secretRef": ("Secret", "name"),
    "passwordSecret": ("Secret", "name"),
    "certificateRefs": ("Secret", "name"),
    "clientCertificateRef": ("Secret", "name"),
    "secret": ("Secret", "name"),
    "configMapKeyRef": ("ConfigMap", "name"),
    "configMapRef": ("ConfigMap", "name"),
    "configMapRefs": ("ConfigMap", "name"),
    "configMap": ("ConfigMap", "name"),
    "caCertificateRefs": ("ConfigMap", "name"),
}
"""Where a reference stands, and what it is of. A volume's Secret is named by `secretName`, beside its `items`."""


def references(document: Any) -> Iterator[tuple[str, str, str]]:
    """Yield kind, name and key of what a document refers to; the key is "" where all of it is meant."""
    for one in inside(document):
        if not isinstance(one, dict):
            continue
        for place, (kind, named) in _NAMED.items():
            found = one.get(place, ())
            for each in found if isinstance(found, list) else [found]:
                if named in each:
                    yield kind, each[named], each.get("key", "")
        if isinstance(one.get("secretName"), str):
            yield "Secret", one["secretName"], ""
            yield from (("Secret", one["secretName"], item["key"]) for item in one.get("items", []))


def rows() -> list[str]:
    """Return the lines of the page's tables."""
    page = (DEPLOY.parent / "docs/operations.md").read_text(encoding="utf-8")
    return [line for line in page.splitlines() if line.startswith("|")]


def is_to_be_made(name: str, key: str) -> bool:
    """Tell whether a line of the page has the name, and the key beside it; those of certificates are all alike."""
    if key in OF_A_CERTIFICATE and name.endswith("-tls"):
        key = ""
    return any(f"`{name}`" in row and (not key or f"`{key}`" in row) for row in rows())


def made(combination: Combination) -> set[tuple[str, str]]:
    """Return names and keys of the maps that are rendered."""
    maps = of_kind(combination, "ConfigMap")
    return {(one["metadata"]["name"], key) for one in maps for key in ("", *one["data"])}


@pytest.mark.parametrize("combination", ALL, ids=str)
def test_maps_that_are_named_are_there(combination: Combination) -> None:
    """With the key that is wanted of them, whichever kind of object wants it; those of operators are on the page."""
    named = {(name, key) for one in rendered(combination) for kind, name, key in references(one) if kind == "ConfigMap"}
    assert len(named) > 1
    assert [(name, key) for name, key in named - made(combination) if not is_to_be_made(name, key)] == []


def test_secrets_that_production_names_are_on_the_page() -> None:
    """With each key that is wanted of one: of the overlay with all components, and of the chart's values."""
    values = [loaded(one) for one in sorted(KUBERNETES.rglob("nats-values.yaml"))]
    named = {found[1:] for one in (*rendered(WHOLE), *values) for found in references(one) if found[0] == "Secret"}
    passwords = set(re.findall(r"\$(BAOHUANG_\w+)", (DEPLOY / "nats/authorization.conf").read_text(encoding="utf-8")))
    of_nats = {("nats", key) for key in passwords}
    assert len(passwords) > 1
    assert of_nats <= named
    assert [(name, key) for name, key in named - of_nats if not is_to_be_made(name, key)] == []


@pytest.mark.parametrize("combination", ALL, ids=str)
def test_every_way_in_and_out_is_to_pods_that_are_there(combination: Combination) -> None:
    """A monitor, a budget, a scaler and a route name what is rendered, by its kind and name."""
    there = {(one["kind"], one["metadata"]["name"]) for one in rendered(combination)}
    aimed = {
        (target["kind"], target["name"])
        for one in rendered(combination)
        for field in ("scaleTargetRef", "targetRefs", "parentRefs", "backendRefs")
        for found in inside(one)
        if isinstance(found, dict) and field in found
        for target in (found[field] if isinstance(found[field], list) else [found[field]])
        if "kind" in target
    }
    assert aimed <= there
