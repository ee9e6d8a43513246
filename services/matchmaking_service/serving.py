"""One replica of the matchmaking service; see `baohuang.rpc.process`."""

import asyncio
from typing import Final

from baohuang.rpc.process import announce, run
from baohuang.rpc.server import RpcServer
from matchmaking_service.settings import MatchmakingSettings
from matchmaking_service.wiring import SERVICES, wired

NAME: Final = "matchmaking service"


async def serve(settings: MatchmakingSettings, stop: asyncio.Event) -> None:
    """Serve until `stop` is set, then drain.

    Raises ListenError, InsecureListenError, KeysUnavailableError; OSError and asyncpg.PostgresError without a database.
    """
    server = RpcServer(settings, settings.matchmaking_listen)
    async with wired(server, settings):
        announce(settings.matchmaking_listen, await server.start(*SERVICES))
        await stop.wait()
        await server.drain()


def main() -> None:
    """Run the service."""
    run(NAME, MatchmakingSettings, serve)
