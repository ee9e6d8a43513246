"""One process of a service, asked and ended as the kubelet does it with its pod."""

import asyncio
import signal
import time
from dataclasses import dataclass
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from baohuang.embedded.child import Child
from deploy.pods import Workload
from fleet.code import Code


@dataclass(frozen=True, slots=True)
class Replica:
    """One process; `probe` is where its health is asked for, `metrics` the port of its metrics if it has any."""

    name: str
    code: Code
    workload: Workload
    child: Child
    probe: str
    metrics: int

    @property
    def service(self) -> str:
        """The service's name."""
        return self.workload.name

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


async def health_at(address: str, service: str) -> Any:
    """Return what a server tells of a service's health, None if it does not answer."""
    async with grpc.aio.insecure_channel(address) as channel:
        try:
            request = health_pb2.HealthCheckRequest(service=service)
            return (await health_pb2_grpc.HealthStub(channel).Check(request, timeout=5)).status
        except grpc.aio.AioRpcError:
            return None
