"""Nodes of NATS as the chart has them: the configuration that it makes of values, with the files of its pods, run here.

Other than in a pod are its root, which is a folder, and the ports and names of the nodes, which are this machine's.
"""

import asyncio
import json
import os
import re
import signal
import urllib.request
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from baohuang.embedded.account import Account
from baohuang.embedded.child import Child, Program
from baohuang.embedded.nats import nats_binary
from baohuang.embedded.ports import LOOPBACK, free_port
from baohuang.stream.permissions import NatsUser, password_variable
from deploy import chart
from deploy.rendering import Combination, of_kind
from eventually import eventually
from tls.authorities import Authority

HOST: Final = "localhost"
"""What nodes are called here: by a name, as in a cluster, since certificates are of names."""
_PASSWORDS: Final = {user: f"p-{user}" for user in NatsUser}
_STOP: Final = ((signal.SIGTERM, 20.0),)
_START_SECONDS: Final = 60.0
_RELOADED: Final = "Reloaded server configuration"


@dataclass(frozen=True, slots=True)
class Given:
    """What a node is given: its chart's values, and the Secret `nats-tls`."""

    values: chart.Values
    secret: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Ports:
    """Those of a node here."""

    clients: int
    nodes: int
    monitor: int


@dataclass(frozen=True, slots=True)
class Pod:
    """What a node has: a root of its own, its number, and the ports of all."""

    root: Path
    number: int
    all_ports: Sequence[Ports]

    @property
    def ports(self) -> Ports:
        """Its own."""
        return self.all_ports[self.number]

    def write(self, given: Given) -> Path:
        """Write the files of its mounts, and give that of its configuration."""
        for folder, source in chart.mounts(given.values).items():
            here = self._here(folder)
            here.mkdir(parents=True, exist_ok=True)
            for name, content in _contents(source, given).items():
                (here / name).write_bytes(content)
        configuration = self._here(chart.CONFIGURATION)
        configuration.write_text(self._configuration(given.values), encoding="utf-8")
        return configuration

    def _here(self, path: object) -> Path:
        return self.root / str(path).removeprefix("/")

    def _configuration(self, values: chart.Values) -> str:
        made: Any = deepcopy(chart.configuration(values))
        made |= {"host": LOOPBACK, "port": self.ports.clients, "http_port": self.ports.monitor}
        routes = [self._route(url) for url in made["cluster"]["routes"]]
        made["cluster"] |= {"host": LOOPBACK, "port": self.ports.nodes, "routes": routes}
        return re.sub(r'"(/[^"]*)"', rf'"{self.root}\1"', chart.text(made))

    def _route(self, url: str) -> str:
        """Return the address here of a node that the chart names by its pod."""
        found = re.fullmatch(r"(\w+://)nats-(\d)\.nats-headless:6222", url)
        assert found is not None
        return f"{found[1]}{HOST}:{self.all_ports[int(found[2])].nodes}"


@dataclass(frozen=True, slots=True)
class Node:
    """One that runs in its pod."""

    child: Child
    pod: Pod

    @property
    def told(self) -> str:
        """What it has logged."""
        return self.child.program.log.read_text(encoding="utf-8")

    def url(self, user: NatsUser, scheme: str = "tls") -> str:
        """Return its address for a user, password included."""
        return f"{scheme}://{user}:{_PASSWORDS[user]}@{HOST}:{self.pod.ports.clients}"

    async def neighbours(self) -> set[str]:
        """Return the names of the nodes that it has routes to."""
        return {route["remote_name"] for route in (await self.asked("/routez")).get("routes") or []}

    async def asked(self, path: str) -> Any:
        """Return what its monitor port says, as probes and KEDA ask it, in the clear; nothing while it is not there.

        Raises ServerDied.
        """
        if self.child.exit_code is not None:
            raise self.child.died()
        return await asyncio.to_thread(_got, f"http://{LOOPBACK}:{self.pod.ports.monitor}{path}")

    async def ready(self) -> None:
        """Wait until it is started, as its probe asks it."""

        async def started() -> bool:
            return bool((await self.asked("/healthz")).get("status") == "ok")

        await eventually(started, _START_SECONDS)

    async def reload(self, given: Given) -> None:
        """Give it something else, and do what the chart's reloader does then."""
        before = self.told.count(_RELOADED)
        self.pod.write(given)
        self.child.send(signal.SIGHUP)

        async def reloaded() -> bool:
            return self.told.count(_RELOADED) > before

        await eventually(reloaded, _START_SECONDS)


def secret_by(authority: Authority) -> Mapping[str, bytes]:
    """Return the Secret of the nodes, a certificate of their name and no address, as cert-manager makes it."""
    issued = authority.issue(host=HOST)
    return {"tls.crt": issued.certificate, "tls.key": issued.key, "ca.crt": authority.pem}


@asynccontextmanager
async def nodes_given(folder: Path, *all_given: Given) -> AsyncIterator[Sequence[Node]]:
    """Run a node for each that is given; they have been started, and may not be ready."""
    ports = [Ports(free_port(), free_port(), free_port()) for _ in all_given]
    async with AsyncExitStack() as stack:
        nodes = [_started(Pod(folder / f"nats-{n}", n, ports), given) for n, given in enumerate(all_given)]
        for node in nodes:
            stack.push_async_callback(node.child.stop, _STOP)
        yield nodes


@asynccontextmanager
async def started_again(node: Node) -> AsyncIterator[Node]:
    """Stop a node and start it in its pod."""
    await node.child.stop(_STOP)
    again = Node(Child.start(node.child.program), node.pod)
    try:
        await again.ready()
        yield again
    finally:
        await again.child.stop(_STOP)


def _started(pod: Pod, given: Given) -> Node:
    configuration, name = pod.write(given), pod.root.name
    passwords = {password_variable(user).removeprefix("$"): password for user, password in _PASSWORDS.items()}
    told = {variable: passwords[variable] for variable in given.values["container"]["env"]}
    environment = {"PATH": os.defpath, "SERVER_NAME": name, **told}
    arguments = [str(nats_binary()), "--config", str(configuration)]
    account = Account(os.geteuid(), os.getegid())
    log = pod.root.with_suffix(".log")
    return Node(Child.start(Program(name, arguments, log, pod.root, environment, account, signal.SIGTERM)), pod)


def _contents(source: chart.Source, given: Given) -> Mapping[str, bytes]:
    """Return the files of a mount: of the Secret, of the overlay's ConfigMap; none of what is the node's own."""
    match source:
        case chart.Source("Secret", "nats-tls"):
            return given.secret
        case chart.Source("ConfigMap", "nats-permissions"):
            maps = {one["metadata"]["name"]: one["data"] for one in of_kind(Combination("production"), "ConfigMap")}
            return {name: text.encode() for name, text in maps[source.name].items()}
        case chart.Source("ConfigMap", "nats-config") | chart.Source(""):
            return {}
        case other:
            raise AssertionError(f"no test gives a node {other}")


def _got(url: str) -> Any:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310 - of this machine
            return json.load(answer)
    except OSError:
        return {}
