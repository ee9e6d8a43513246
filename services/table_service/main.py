"""`python -m table_service.main`: one replica of the table service; see `baohuang.rpc.process`."""

import asyncio
import gc
from typing import Final

from baohuang.rpc.process import announce, run
from baohuang.rpc.server import RpcServer
from table_service.settings import TableSettings
from table_service.wiring import SERVICES, wired

NAME: Final = "table service"
_COLLECT_AFTER: Final = (20_000, 20, 100)
"""Objects made and not freed before the youngest are collected, and how many collections before older ones are."""


async def serve(settings: TableSettings, stop: asyncio.Event) -> None:
    """Serve until `stop` is set, then drain.

    Raises ListenError, InsecureListenError, KeysUnavailableError; OSError, asyncpg.PostgresError and LogUnavailable
    without a database.
    """
    server = RpcServer(settings, settings.table_listen)
    async with wired(server, settings) as hub:
        port = await server.start(*SERVICES)
        _collect_seldom()
        announce(settings.table_listen, port)
        await stop.wait()
        hub.drain()
        await server.drain()


def main() -> None:
    """Run the service."""
    run(NAME, TableSettings, serve)


def _collect_seldom() -> None:
    """Spare looking through tables and code for cycles: plays over streams leave none behind, calls a handful.

    With the interpreter's own settings it takes a sixth of a busy replica's time, in pauses that grow with its tables.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECT_AFTER)


if __name__ == "__main__":
    main()
