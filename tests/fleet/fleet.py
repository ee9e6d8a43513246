"""Replicas of every service as processes, told what their pods are told, those of a service behind one address.

Only addresses, paths and what Secrets hold are this machine's; where a cluster takes a pod off the list of addresses
before it ends, here its port is shared by all until it stops listening, which is harder on clients.
"""

import asyncio
import os
import signal
import sys
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Final

from baohuang.embedded.account import Account
from baohuang.embedded.child import Child, Program
from baohuang.embedded.nats import EmbeddedNats
from baohuang.embedded.ports import LOOPBACK, free_port
from baohuang.rpc.auth import Caller, CallerId, Role
from baohuang.stream.permissions import NatsUser
from command_line.development_key import DevelopmentKey, jwks_path, signing_key_path
from command_line.serving import SERVED
from deploy.pods import Workload, workloads
from deploy.rendering import Combination
from deploy.tree import ROOT
from eventually import eventually
from fleet.code import THIS, Code
from fleet.replica import Replica

_START_SECONDS: Final = 120.0
_TOKEN_SECONDS: Final = 3600.0
_ON_NATS: Final = MappingProxyType(
    {"table": NatsUser.TABLE, "scoring": NatsUser.SCORING, "rating": NatsUser.RATING},
)


@dataclass(frozen=True, slots=True)
class Place:
    """What a fleet stands on, which no manifest knows; `quick` are further variables of every service.

    The NATS is one that was started. With `metrics` each replica tells Prometheus its own.
    """

    folder: Path
    dsn: str
    nats: EmbeddedNats
    key: DevelopmentKey
    quick: Mapping[str, str]
    metrics: bool = False

    def secrets_of(self, service: str) -> Mapping[str, str]:
        """Return what a service is told by Secrets."""
        told = {
            "BAOHUANG_POSTGRES_DSN": self.dsn,
            "BAOHUANG_SERVICE_TOKEN": self.key.token(Caller(CallerId(service), Role.SERVICE), _TOKEN_SECONDS),
        }
        user = _ON_NATS.get(service)
        return told if user is None else {**told, "BAOHUANG_NATS_URL": self.nats.url_of(user)}


class Fleet:
    """All replicas that run, and were drained."""

    def __init__(self, place: Place, tell: Callable[[str], None] = print) -> None:
        self._place = place
        self._tell = tell
        self._ports = {service: free_port() for service in SERVED}
        self._numbers: defaultdict[str, count[int]] = defaultdict(lambda: count(1))
        self.running: defaultdict[str, list[Replica]] = defaultdict(list)

    def address_of(self, service: str) -> str:
        """Return the one address of all replicas of a service."""
        return f"{LOOPBACK}:{self._ports[service]}"

    def launch(self, service: str, code: Code = THIS) -> Replica:
        """Start one more replica."""
        name = f"{service}-{next(self._numbers[service])}"
        probe, metrics = f"{LOOPBACK}:{free_port()}", free_port()
        told = {"BAOHUANG_METRICS_LISTEN": f"{LOOPBACK}:{metrics}"} if self._place.metrics else {}
        child = self._child(name, service, code, {**self._told(name, service, probe), **told})
        replica = Replica(name, code, _pods()[service], child, probe, metrics)
        self.running[service].append(replica)
        return replica

    async def start(self, service: str, code: Code = THIS) -> Replica:
        """Start one more replica and wait until it is ready."""
        since, replica = time.monotonic(), self.launch(service, code)
        await eventually(replica.is_ready, _START_SECONDS)
        self._tell(f"{replica.name} is ready after {time.monotonic() - since:.1f} s")
        return replica

    async def start_all(self, *wanted: tuple[str, Code]) -> Sequence[Replica]:
        """Start replicas side by side, each with a release's code, and wait until all are ready."""
        return await asyncio.gather(*(self.start(service, code) for service, code in wanted))

    async def end(self, replica: Replica) -> None:
        """Drain a replica."""
        self.running[replica.service].remove(replica)
        self._tell(f"{replica.name} drained in {await replica.drained():.1f} s")

    async def kill(self, replica: Replica) -> None:
        """End a replica with SIGKILL, as a crash would."""
        self.running[replica.service].remove(replica)
        await replica.child.stop(())

    async def roll(self, service: str) -> None:
        """Replace all replicas of a service one by one: a new one first (maxSurge 1), then an old one goes."""
        for old in tuple(self.running[service]):
            await self.start(service)
            await self.end(old)

    async def scale(self, service: str, wanted: int) -> None:
        """Have so many replicas of a service; the oldest go first, all at once."""
        running = self.running[service]
        await asyncio.gather(*(self.start(service) for _ in range(wanted - len(running))))
        await asyncio.gather(*(self.end(old) for old in running[: max(0, len(running) - wanted)]))

    async def end_all(self) -> None:
        """Drain all, those that others call last."""
        for service in ("bots", "matchmaking", "history", "rating", "scoring", "table"):
            await self.scale(service, 0)

    def _child(self, name: str, service: str, code: Code, environment: Mapping[str, str]) -> Child:
        home = self._place.folder / name
        home.mkdir()
        arguments = [sys.executable, "-m", "command_line", *_pods()[service].container["args"]]
        of_the_machine = {"PATH": os.environ["PATH"], "PYTHONPATH": code.path}
        account = Account(os.geteuid(), os.getegid())
        told = {**of_the_machine, **environment, **self._place.quick}
        return Child.start(Program(name, arguments, home / "log", ROOT, told, account, signal.SIGTERM))

    def _told(self, name: str, service: str, probe: str) -> dict[str, str]:
        """Return what the container of the service's pod is told, with the names of this machine."""
        held = {"BAOHUANG_REPLICA": name, **self._place.secrets_of(service)}
        here = {
            "0.0.0.0:50051": self.address_of(service),
            "0.0.0.0:50050": probe,
            "/etc/baohuang/jwks/jwks.json": str(jwks_path(self._place.folder)),
            "/etc/baohuang/bots/signing.pem": str(signing_key_path(self._place.folder)),
            **{f"{other}:50051": self.address_of(other) for other in SERVED},
        }
        told = _pods()[service].told()
        named = {variable: held[variable] if text is None else here.get(text, text) for variable, text in told.items()}
        return {**named, "BAOHUANG_SHARE_PORT": "true"}


@asynccontextmanager
async def fleet_on(place: Place) -> AsyncIterator[Fleet]:
    """Give a fleet of which nothing runs yet; what runs at the end of the block is killed."""
    fleet = Fleet(place)
    try:
        yield fleet
    finally:
        for replica in [one for some in fleet.running.values() for one in some]:
            await replica.child.stop(())


@cache
def _pods() -> Mapping[str, Workload]:
    """Return what makes the pods of each service, by its name."""
    return {one.name: one for one in workloads(Combination("dev")) if one.is_ours and one.kind == "Deployment"}
