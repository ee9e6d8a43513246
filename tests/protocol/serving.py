"""The service that the transcript is recorded from and replayed against: gRPC on loopback, dealing from one seed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from baohuang.eventlog.memory import MemoryLog
from baohuang.rpc.server import RpcServer
from baohuang.rpc.settings import ServerSettings
from table_service.seeds import DevelopmentSeeds
from table_service.wiring import SERVICES, Limits, serving

DEV_SEED: Final = 7
"""What the document gives `baohuang up` as `--dev-seed`."""
PATIENT: Final = Limits(away_seconds=3600.0)
"""However slowly the transcript is replayed, nobody in it counts as away."""


@asynccontextmanager
async def running() -> AsyncIterator[str]:
    """Serve until the end of the block; gives the address."""
    server = RpcServer(ServerSettings(insecure_dev=True, drain_grace_seconds=0.5), "127.0.0.1:0")
    async with serving(server, MemoryLog(), DevelopmentSeeds(DEV_SEED), PATIENT):
        port = await server.start(*SERVICES)
        try:
            yield f"127.0.0.1:{port}"
        finally:
            await server.drain()
