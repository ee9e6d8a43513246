"""One replica of the rating service; see `baohuang.rpc.process`."""

import asyncio
from typing import Final

from baohuang.rpc.process import announce, run
from baohuang.rpc.server import RpcServer
from rating_service.settings import RatingSettings
from rating_service.wiring import SERVICES, wired

NAME: Final = "rating service"


async def serve(settings: RatingSettings, stop: asyncio.Event) -> None:
    """Serve until `stop` is set, then drain.

    Raises ListenError, InsecureListenError, KeysUnavailableError; OSError and asyncpg.PostgresError without a database.
    """
    server = RpcServer(settings, settings.rating_listen)
    async with wired(server, settings):
        announce(settings.rating_listen, await server.start(*SERVICES))
        await stop.wait()
        await server.drain()


def main() -> None:
    """Run the service."""
    run(NAME, RatingSettings, serve)
