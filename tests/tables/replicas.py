"""Table services in this process, each a real gRPC server on loopback, over whatever log they are given."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import grpc

from baohuang.eventlog.port import EventLog
from baohuang.rpc.server import RpcServer
from baohuang.rpc.settings import ServerSettings
from table_service.pokes import OnNats
from table_service.seeds import DevelopmentSeeds, SeedSource
from table_service.watch.hub import Hub
from table_service.wiring import SERVICES, Limits, Timing, serving

PATIENT = Limits(away_seconds=3600.0)
"""Nobody whose stream ends counts as away, however slow the machine: for all that is not about that."""


@dataclass(frozen=True, slots=True)
class Replica:
    """A serving table service, and a channel to it."""

    log: EventLog
    hub: Hub
    server: RpcServer
    port: int
    channel: grpc.aio.Channel

    @property
    def address(self) -> str:
        """Where it serves."""
        return f"127.0.0.1:{self.port}"


@asynccontextmanager
async def replica(
    log: EventLog,
    limits: Limits | None = None,
    seeds: SeedSource | None = None,
    timing: Timing | None = None,
    *,
    nats: OnNats | None = None,
    listen: str = "127.0.0.1:0",
    **settings: float,
) -> AsyncIterator[Replica]:
    """Serve tables over the log until the end of the block; then drain. The deals are the same on every run."""
    wanted = {"insecure_dev": True, "drain_grace_seconds": 0.5, **settings}
    server = RpcServer(ServerSettings.model_validate(wanted), listen)
    async with serving(server, log, seeds or DevelopmentSeeds(7), limits or PATIENT, timing, nats=nats) as hub:
        port = await server.start(*SERVICES)
        try:
            async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
                yield Replica(log, hub, server, port, channel)
        finally:
            await server.drain()
