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
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, Final

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from baohuang.embedded.account import Account
from baohuang.embedded.child import Child, Program
from baohuang.embedded.ports import LOOPBACK, free_port
from baohuang.rpc.auth import Caller, CallerId, Role
from command_line.development_key import DevelopmentKey, jwks_path, signing_key_path
from command_line.serving import SERVED
from deploy.pods import Workload, workloads
from deploy.rendering import Combination
from deploy.tree import ROOT
from eventually import eventually

_START_SECONDS: Final = 120.0
_TOKEN_SECONDS: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Place:
    """What a fleet stands on, which no manifest knows; `quick` are further variables of every service."""

    folder: Path
    dsn: str
    nats_url: str
    key: DevelopmentKey
    quick: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Replica:
    """One process; `probe` is where it tells its health to the kubelet."""

    name: str
    workload: Workload
    child: Child
    probe: str

    async def is_ready(self) -> bool:
        """Ask what the readiness probe of its pod asks. Fails when it has ended."""
        if self.child.exit_code is not None:
            raise self.child.died()
        return bool(await health_at(self.probe, self.asked) == health_pb2.HealthCheckResponse.SERVING)

    @property
    def asked(self) -> str:
        """Which service's health its readiness probe asks for."""
        return str(self.workload.container["readinessProbe"]["grpc"].get("service", ""))

    async def drained(self) -> float:
        """Send SIGTERM and wait for its end, which comes within its pod's grace period; give the seconds it took."""
        pod, since = self.workload.pod, time.monotonic()
        slept = self.workload.container["lifecycle"]["preStop"]["sleep"]["seconds"]
        self.child.send(signal.SIGTERM)
        code = await asyncio.wait_for(self.child.wait(), pod["terminationGracePeriodSeconds"] - slept)
        assert code == 0, self.child.died()
        return time.monotonic() - since


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

    def launch(self, service: str) -> Replica:
        """Start one more replica."""
        name, probe = f"{service}-{next(self._numbers[service])}", f"{LOOPBACK}:{free_port()}"
        replica = Replica(name, _pods()[service], self._child(name, service, probe), probe)
        self.running[service].append(replica)
        return replica

    async def start(self, service: str) -> Replica:
        """Start one more replica and wait until it is ready."""
        since, replica = time.monotonic(), self.launch(service)
        await eventually(replica.is_ready, _START_SECONDS)
        self._tell(f"{replica.name} is ready after {time.monotonic() - since:.1f} s")
        return replica

    async def end(self, replica: Replica) -> None:
        """Drain a replica."""
        self.running[replica.workload.name].remove(replica)
        self._tell(f"{replica.name} drained in {await replica.drained():.1f} s")

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

    def _child(self, name: str, service: str, probe: str) -> Child:
        home = self._place.folder / name
        home.mkdir()
        arguments = [sys.executable, "-m", "command_line", *_pods()[service].container["args"]]
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join(sys.path),
            "BAOHUANG_SHARE_PORT": "true",
            **self._told(name, service, probe),
            **self._place.quick,
        }
        account = Account(os.geteuid(), os.getegid())
        return Child.start(Program(name, arguments, home / "log", ROOT, environment, account, signal.SIGTERM))

    def _told(self, name: str, service: str, probe: str) -> dict[str, str]:
        """Return what the container of the service's pod is told, with the names of this machine."""
        held = {
            "BAOHUANG_REPLICA": name,
            "BAOHUANG_POSTGRES_DSN": self._place.dsn,
            "BAOHUANG_NATS_URL": self._place.nats_url,
            "BAOHUANG_SERVICE_TOKEN": self._place.key.token(Caller(CallerId(service), Role.SERVICE), _TOKEN_SECONDS),
        }
        here = {
            "0.0.0.0:50051": self.address_of(service),
            "0.0.0.0:50050": probe,
            "/etc/baohuang/jwks/jwks.json": str(jwks_path(self._place.folder)),
            "/etc/baohuang/bots/signing.pem": str(signing_key_path(self._place.folder)),
            **{f"{other}:50051": self.address_of(other) for other in SERVED},
        }
        told = _pods()[service].told()
        return {variable: held[variable] if text is None else here.get(text, text) for variable, text in told.items()}


@asynccontextmanager
async def fleet_on(place: Place) -> AsyncIterator[Fleet]:
    """Give a fleet of which nothing runs yet; what runs at the end of the block, since it failed, is killed."""
    fleet = Fleet(place)
    try:
        yield fleet
    finally:
        for replica in [one for some in fleet.running.values() for one in some]:
            await replica.child.stop(())


async def health_at(address: str, service: str) -> Any:
    """Return what a server tells of a service's health, None if it does not answer."""
    async with grpc.aio.insecure_channel(address) as channel:
        try:
            request = health_pb2.HealthCheckRequest(service=service)
            return (await health_pb2_grpc.HealthStub(channel).Check(request, timeout=5)).status
        except grpc.aio.AioRpcError:
            return None


@cache
def _pods() -> Mapping[str, Workload]:
    """Return what makes the pods of each service, by its name."""
    return {one.name: one for one in workloads(Combination("dev")) if one.is_ours and one.kind == "Deployment"}
