"""The history service alone; see `baohuang.rpc.process`."""

import asyncio
from typing import Final

from baohuang.rpc.process import announce, run
from baohuang.rpc.server import RpcServer
from table_service.history.settings import HistorySettings
from table_service.history.wiring import SERVICE, wired

NAME: Final = "history service"


async def serve(settings: HistorySettings, stop: asyncio.Event) -> None:
    """Serve until `stop` is set, then drain.

    Raises ListenError, InsecureListenError, KeysUnavailableError; OSError and asyncpg.PostgresError without a database.
    """
    server = RpcServer(settings, settings.history_listen)
    async with wired(server, settings):
        announce(settings.history_listen, await server.start(SERVICE))
        await stop.wait()
        await server.drain()


def main() -> None:
    """Run the service."""
    run(NAME, HistorySettings, serve)
