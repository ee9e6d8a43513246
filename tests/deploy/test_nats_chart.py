"""What the values for the chart of NATS come to: its configuration, its nodes' files, and what our pods are told."""

import re
from pathlib import PurePosixPath
from typing import Any, Final

import pytest
import yaml

from baohuang.stream.permissions import NatsUser, password_variable
from deploy import chart
from deploy.pods import Workload, workloads
from deploy.rendering import ALL, Combination, of_kind
from deploy.test_components import LAG_IS_TOLD_AT
from deploy.tree import DEPLOY, KUBERNETES, inside, loaded
from deploy.versions import image_of

OF_THE_TREE: Final[Any] = loaded(KUBERNETES / "overlays/production/nats-values.yaml")
MUTUAL: Final[Any] = loaded(KUBERNETES / "components/nats-mutual-tls/nats-values.yaml")
VALUES: Final = chart.valued(OF_THE_TREE)
MADE: Final = chart.configuration(VALUES)
MOUNTS: Final = chart.mounts(VALUES)
SECRET: Final = "nats-tls"  # noqa: S105 - its name
PAGE: Final = (DEPLOY.parent / "docs/operations.md").read_text(encoding="utf-8")
TOLD_OF_NATS: Final = [
    one for combination in ALL for one in workloads(combination) if "BAOHUANG_NATS_URL" in one.told()
]


def namespace() -> str:
    """Return that of everything."""
    (one,) = of_kind(Combination("production"), "Namespace")
    return str(one["metadata"]["name"])


def test_nodes_and_clients_are_talked_to_over_tls() -> None:
    """By files that are there: each is where the Secret is mounted, under a key that cert-manager gives it."""
    assert {url.partition("://")[0] for url in MADE["cluster"]["routes"]} == {"tls"}
    for tls in (MADE["tls"], MADE["cluster"]["tls"]):
        assert {name: PurePosixPath(file).name for name, file in tls.items()} == {
            "cert_file": "tls.crt",
            "key_file": "tls.key",
            "ca_file": "ca.crt",
        }
        assert {MOUNTS[PurePosixPath(file).parent] for file in tls.values()} == {chart.Source("Secret", SECRET)}


def test_clients_show_a_certificate_where_they_have_one() -> None:
    """By a second file of values, which changes nothing else: NATS asks those who have all been given one."""
    asked = chart.configuration(chart.valued(OF_THE_TREE, MUTUAL))
    assert asked == {**MADE, "tls": {**MADE["tls"], "verify": True}}
    assert "verify" not in MADE["tls"]
    for one in TOLD_OF_NATS:
        told = one.told()
        files = [PurePosixPath(str(told[name])) for name in ("BAOHUANG_NATS_CERT", "BAOHUANG_NATS_KEY") if name in told]
        if one.combination.overlay != "production":
            assert not files
            continue
        (mount,) = [mount for mount in one.container["volumeMounts"] if mount["mountPath"] == str(files[0].parent)]
        (volume,) = [volume for volume in one.pod["volumes"] if volume["name"] == mount["name"]]
        assert [str(file.relative_to(mount["mountPath"])) for file in files] == ["tls.crt", "tls.key"]
        assert volume["secret"]["secretName"] == f"{one.name}-tls"


def test_the_monitor_is_asked_in_the_clear() -> None:
    """At the port that the NetworkPolicy opens for KEDA; its headless Service, named after the release, has it.

    The other Service has it not. And each node has a name under the headless one, by which KEDA asks whoever leads.
    """
    assert "https_port" not in MADE
    (headless,) = {url.partition(".")[2].partition(":")[0] for url in MADE["cluster"]["routes"]}
    assert f"{headless}.{namespace()}:{MADE['http_port']}" == LAG_IS_TOLD_AT


def test_what_is_renewed_is_read_again() -> None:
    """The reloader watches every file that the configuration names: certificates, and the users."""
    named = [one for one in inside(MADE) if isinstance(one, str) and one.startswith(("/etc/", "../"))]
    assert len(named) == 7
    watched = {PurePosixPath(file).name for file in chart.watched(VALUES)}
    assert watched == {PurePosixPath(file).name for file in named} | {"nats.conf"}
    assert len(set(chart.watched(VALUES))) == len(set(named)) + 1


def test_nodes_are_given_the_passwords_they_ask_for() -> None:
    """Each user's, by reference, and the file of the users where it is mounted."""
    asked = {password_variable(user).removeprefix("$") for user in NatsUser}
    assert set(VALUES["container"]["env"]) == asked
    for name, value in VALUES["container"]["env"].items():
        assert value["valueFrom"]["secretKeyRef"] == {"name": "nats", "key": name}
    included = PurePosixPath("/etc", MADE["$include"].removeprefix("../"))
    source = MOUNTS[included.parent]
    (map_,) = [one for one in of_kind(Combination("production"), source.kind) if one["metadata"]["name"] == source.name]
    assert included.name in map_["data"]


def test_every_nats_syncs_always() -> None:
    """In its own configuration, as the decision about it says."""
    assert MADE["jetstream"]["sync_interval"] == "always"
    assert re.search(
        r"^\s*sync_interval: always", (DEPLOY / "nats/nats.conf").read_text(encoding="utf-8"), re.MULTILINE
    )


def test_the_chart_runs_the_tested_nats() -> None:
    """Not the one that it would take by itself."""
    assert f"nats:{VALUES['container']['image']['tag']}" == image_of("nats")


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("config", "nats", "tls"), {"secret": SECRET}),
        (("config", "tls"), {"enabled": True}),
        (("tlsCA",), {"secretname": SECRET}),
        (("config", "cluster", "replicas"), {"count": 3}),
    ],
    ids=lambda value: ".".join(value) if isinstance(value, tuple) else "",
)
def test_a_value_that_the_chart_would_pass_over_is_found(place: tuple[str, ...], value: Any) -> None:
    """Helm says nothing of a name that the chart does not know."""
    for name in reversed(place):
        value = {name: value}
    with pytest.raises(chart.UnknownValueError, match=r"^no place for|is no map$"):
        chart.valued(OF_THE_TREE, value)


@pytest.mark.parametrize("workload", TOLD_OF_NATS, ids=str)
def test_whoever_calls_nats_knows_its_authority(workload: Workload) -> None:
    """In production: by the file that it is told of, from the Secret of NATS and without the key. Elsewhere by none."""
    told, pod = workload.told(), workload.pod
    if workload.combination.overlay != "production":
        assert "BAOHUANG_NATS_CA" not in told
        return
    file = PurePosixPath(str(told["BAOHUANG_NATS_CA"]))
    (mount,) = [one for one in workload.container["volumeMounts"] if one["mountPath"] == str(file.parent)]
    (volume,) = [one for one in pod["volumes"] if one["name"] == mount["name"]]
    authority = VALUES["tlsCA"]
    assert volume["secret"]["secretName"] == authority["secretName"] == SECRET
    assert volume["secret"]["items"] == [{"key": authority["key"], "path": file.name}]


def test_nobody_else_has_anything_of_it() -> None:
    """Who is not told of NATS has no part of its Secret."""
    assert {one.name for one in TOLD_OF_NATS} == {"table", "scoring", "rating", "operator"}
    for combination in ALL:
        having = {one.name for one in workloads(combination) if SECRET in str(one.pod)}
        assert having == ({one.name for one in TOLD_OF_NATS} if combination.overlay == "production" else set())


def test_the_certificate_that_operators_are_told_of() -> None:
    """The page's: into that Secret, for the nodes and the name that services call, to be shown both ways."""
    (block,) = re.findall(r"```yaml\n(apiVersion: cert-manager.+?)```", PAGE, re.DOTALL)
    certificate = yaml.safe_load(block)
    assert certificate["metadata"]["namespace"] == namespace()
    spec = certificate["spec"]
    assert spec["secretName"] == SECRET
    called = {re.sub(r"^tls://|:\d+$", "", url) for url in MADE["cluster"]["routes"]}
    urls = re.findall(r"""nats-url[='": ]+tls://\w+:PASSWORD@(.+?):(\d+)""", PAGE)
    assert len(urls) > 1
    ((host, port),) = set(urls)
    assert set(spec["dnsNames"]) == called | {host}
    assert int(port) == MADE["port"]
    assert spec["usages"] == ["server auth", "client auth"]
