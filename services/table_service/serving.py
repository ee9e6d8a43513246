"""One replica of the table service; see `baohuang.rpc.process`."""

import asyncio
from typing import Final

from baohuang.rpc.process import announce, run
from baohuang.rpc.server import RpcServer
from table_service.history.wiring import SERVICE as HISTORY
from table_service.settings import TableSettings
from table_service.wiring import SERVICES, wired

NAME: Final = "table service"


async def serve(settings: TableSettings, stop: asyncio.Event) -> None:
    """Serve until `stop` is set, then drain.

    Raises ListenError, InsecureListenError, KeysUnavailableError; OSError, asyncpg.PostgresError and LogUnavailable
    without a database.
    """
    server = RpcServer(settings, settings.table_listen)
    async with wired(server, settings):
        announce(settings.table_listen, await server.start(*SERVICES, HISTORY))
        await stop.wait()
        await server.drain()


def main() -> None:
    """Run the service."""
    run(NAME, TableSettings, serve)
