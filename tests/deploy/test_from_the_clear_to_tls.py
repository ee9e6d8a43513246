"""The page's list for a cluster whose NATS is still called in the clear: complete, and in the one order that works."""

import json
import re
import shlex
from collections.abc import Sequence
from typing import Final

from baohuang.stream.address import TLS_SCHEME
from deploy.pods import OPERATOR, workloads
from deploy.rendering import Combination, of_kind
from deploy.tree import ROOT

PAGE: Final = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
PRODUCTION: Final = Combination("production")
STEPS: Final = ("Secrets", "migration", "services", "NATS", "addresses and overlay")


def block(name: str) -> list[str]:
    """Return the commands of a block of the page."""
    (found,) = re.findall(rf"<!-- kubectl: {re.escape(name)} -->\n```\n(.+?)^```", PAGE, re.DOTALL | re.MULTILINE)
    return str(found).splitlines()


def step(name: str) -> list[str]:
    return block(f"from 0.1 to 0.2, {name}")


SERVICES: Final = block("one service after the other")
EACH_RELEASE: Final = block("each release")


def told_of_an_authority() -> set[str]:
    """Return who of `production` is told whose word to take for NATS."""
    return {one.name for one in workloads(PRODUCTION) if "BAOHUANG_NATS_CA" in one.told()}


def test_its_steps_are_in_this_order() -> None:
    """Secrets nobody reads, migration, images, NATS, and last what has services call it over TLS."""
    listed = re.findall(r"<!-- kubectl: from 0\.1 to 0\.2, (.+?) -->", PAGE)
    assert listed == list(STEPS)
    numbers = re.findall(r"^\*\*(\d)\. ", PAGE, re.MULTILINE)
    assert numbers == [str(number) for number in range(1, len(STEPS) + 2)]


def test_it_is_a_whole_upgrade() -> None:
    """All that other releases need, line by line: the migration, each service, the overlay at the end."""
    assert step("migration") == EACH_RELEASE[:3]
    assert [*step("services"), *step("addresses and overlay")[-2:]] == SERVICES
    assert SERVICES[-2:] == EACH_RELEASE[-2:]


def test_images_go_before_what_images_are_told() -> None:
    """No settings, no object and no address of services is changed before NATS is over TLS."""
    before = [command for name in STEPS[:4] for command in step(name)]
    assert [one for one in before if "patch secret" in one] == []
    assert [one for one in before if "apply" in one and "--selector app.kubernetes.io/name=migration" not in one] == []


def test_nats_is_replaced_whole() -> None:
    """By the chart and the values of the first installation; then all nodes at once, which are waited for."""
    (first,) = re.findall(r"^helm install (.+)$", PAGE, re.MULTILINE)
    upgrade, delete, wait = step("NATS")
    assert upgrade == f"helm upgrade {first}"
    assert delete.startswith("kubectl delete pod --namespace baohuang --selector app.kubernetes.io/name=nats,")
    assert wait.startswith("kubectl rollout status --namespace baohuang statefulset/nats ")


def test_everybody_who_is_told_of_the_authority_gets_an_address_for_it() -> None:
    """Before the overlay, which tells them; `nats://` beside an authority ends a service at its start."""
    *patches, apply, _ = step("addresses and overlay")
    addresses = dict(_patched(one) for one in patches)
    assert apply == "kubectl apply --kustomize OVERLAY"
    assert addresses.keys() == told_of_an_authority() - {OPERATOR}
    assert all(url.startswith(f"{TLS_SCHEME}{user}:") for user, url in addresses.items())


def test_secrets_that_the_overlay_names_are_made_before_it() -> None:
    """That of the certificate, that of the operator's pod, and the label on every login's."""
    there, operator, labelled = step("Secrets")
    assert there.endswith(" nats-tls")
    assert "secret generic operator " in operator
    assert f"nats-url='{TLS_SCHEME}operator:" in operator
    (cluster,) = of_kind(PRODUCTION, "Cluster")
    logins = {one["passwordSecret"]["name"] for one in cluster["spec"]["managed"]["roles"]}
    owner = cluster["spec"]["bootstrap"]["initdb"]["secret"]["name"]
    assert set(re.findall(r"postgres-[a-z-]+", labelled)) == {*logins, owner}


def _patched(command: str) -> tuple[str, str]:
    words: Sequence[str] = shlex.split(command)
    assert list(words[:5]) == ["kubectl", "patch", "secret", "--namespace", "baohuang"]
    data = json.loads(words[-1])["stringData"]
    assert data.keys() == {"nats-url"}
    return words[5], data["nats-url"]
