"""One replica of the scoring service; see `baohuang.rpc.process`."""

import asyncio
from typing import Final

from baohuang.rpc.process import announce, run
from baohuang.rpc.server import RpcServer
from scoring_service.settings import ScoringSettings
from scoring_service.wiring import SERVICES, wired

NAME: Final = "scoring service"


async def serve(settings: ScoringSettings, stop: asyncio.Event) -> None:
    """Serve until `stop` is set, then drain.

    Raises ListenError, InsecureListenError, KeysUnavailableError; OSError and asyncpg.PostgresError without a database.
    """
    server = RpcServer(settings, settings.scoring_listen)
    async with wired(server, settings):
        announce(settings.scoring_listen, await server.start(*SERVICES))
        await stop.wait()
        await server.drain()


def main() -> None:
    """Run the service."""
    run(NAME, ScoringSettings, serve)
