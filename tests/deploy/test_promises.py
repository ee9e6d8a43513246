"""What the page for operators promises of a cluster is what the manifests ask for, number by number."""

import re
from typing import Any, Final

from baohuang.rpc.settings import ServerSettings
from deploy.pods import workloads
from deploy.rendering import MOST, Combination, of_kind
from deploy.tree import DEPLOY, KUBERNETES, loaded

WHOLE: Final = Combination("production", MOST)
PAGE: Final = (DEPLOY.parent / "docs/operations.md").read_text(encoding="utf-8")
_GRANTED: Final = re.compile(r"^grant (\w+) to (login_\w+);$", re.MULTILINE)


def cluster() -> Any:
    (found,) = of_kind(WHOLE, "Cluster")
    return found["spec"]


def test_no_commit_is_acknowledged_that_a_failover_may_lose() -> None:
    """Of three, one besides the primary confirms each commit, or it waits; nobody is promoted who may lack one."""
    asked = cluster()["postgresql"]["synchronous"]
    assert asked == {"method": "any", "number": 1, "dataDurability": "required", "failoverQuorum": True}
    assert cluster()["instances"] == 3
    for name, value in asked.items():
        assert f"{name}: {str(value).lower()}" in PAGE
    assert cluster()["affinity"]["podAntiAffinityType"] == "required"
    assert "synchronous_commit" not in cluster()["postgresql"]["parameters"]


def test_managed_logins_are_those_of_the_roles() -> None:
    """Each is a member of what `roles.sql` makes it one of, nothing more, and has a Secret of its own name."""
    script = (DEPLOY / "postgres/roles.sql").read_text(encoding="utf-8")
    granted = {login: [role] for role, login in _GRANTED.findall(script)}
    assert len(granted) > 3
    managed = {one["name"]: one for one in cluster()["managed"]["roles"]}
    assert {name: one["inRoles"] for name, one in managed.items()} == granted
    for name, one in managed.items():
        assert one["passwordSecret"]["name"] == f"postgres-{name.replace('_', '-')}"
        assert set(one) == {"name", "login", "inRoles", "passwordSecret"}
        assert one["login"] is True
    assert cluster()["bootstrap"]["initdb"]["secret"]["name"] == "postgres-owner"


def test_nats_has_as_many_nodes_as_keep_a_stream() -> None:
    """Or no stream could be made; and a number of which more than half can be left."""
    keeping = {
        int(str(told)) for one in workloads(WHOLE) if (told := one.told().get("BAOHUANG_STREAM_SERVERS")) is not None
    }
    assert keeping == {3}
    values = loaded(KUBERNETES / "overlays/production/nats-values.yaml")["config"]
    nodes = values["cluster"]["replicas"]
    assert values["cluster"]["enabled"] is True
    assert nodes >= max(keeping)
    assert nodes % 2 == 1
    assert values["jetstream"]["merge"]["sync_interval"] == "always"


def test_the_gateway_takes_as_many_streams_on_a_connection_as_a_service() -> None:
    """No fewer, since a player's watches and calls share one; and the page says how many."""
    (policy,) = of_kind(WHOLE, "ClientTrafficPolicy")
    streams = policy["spec"]["http2"]["maxConcurrentStreams"]
    assert streams == ServerSettings.model_fields["max_concurrent_streams"].default
    assert f"and {streams} on one connection" in " ".join(PAGE.split())
