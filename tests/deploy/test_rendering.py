"""Every overlay with every choice of components renders, and Kubernetes would take all of it."""

from copy import deepcopy
from typing import Any

import pytest

from deploy.rendering import ALL, COMPONENTS, OVERLAYS, Combination, combinations_of, of_kind, rendered
from deploy.schemas import NotAnObjectError, check
from deploy.tree import KUBERNETES


@pytest.mark.parametrize("combination", [one for overlay in OVERLAYS for one in combinations_of(overlay)], ids=str)
def test_every_combination_is_taken(combination: Combination) -> None:
    """Whatever is put together: each object is what its kind says, and no two have one name."""
    objects = rendered(combination)
    for one in objects:
        check(one)
    names = [(one["kind"], one["metadata"].get("namespace"), one["metadata"]["name"]) for one in objects]
    assert len(names) == len(set(names))


def test_there_is_something_to_choose() -> None:
    """The overlays that operators are told of, and the components."""
    assert set(OVERLAYS) == {"dev", "kind", "production"}
    assert len(COMPONENTS) > 1


@pytest.mark.parametrize(
    ("kind", "path"),
    [("Deployment", ("spec",)), ("Cluster", ("spec", "postgresql")), ("NetworkPolicy", ("spec",))],
)
def test_a_field_too_many_is_found(kind: str, path: tuple[str, ...]) -> None:
    """A misspelt field fails, in the kinds of Kubernetes and in others."""
    one: Any = deepcopy(of_kind(Combination("production"), kind)[0])
    check(one)
    place = one
    for step in path:
        place = place[step]
    place["replcas"] = 3
    with pytest.raises(NotAnObjectError):
        check(one)


def test_an_unknown_kind_is_found() -> None:
    """Of which nothing is kept."""
    with pytest.raises(NotAnObjectError, match=r"nothing is known of example\.com/v1"):
        check({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "thing"}, "spec": {}})


def test_every_schema_that_is_kept_is_used() -> None:
    """By an object of some overlay, so what is kept is what was checked."""
    used = {
        (one["apiVersion"].partition("/")[0], one["kind"].lower())
        for combination in ALL
        for one in rendered(combination)
    }
    kept = {(path.parent.name, path.name.partition("_")[0]) for path in (KUBERNETES / "schemas").glob("*/*.json")}
    assert kept <= used
