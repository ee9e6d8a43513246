"""`python -m table_service.main`: one replica of the table service, until SIGTERM or SIGINT.

The first signal drains: health turns NOT_SERVING, new calls are refused, open ones get the grace period. Once it
serves it says so in one line on standard output: `listening on 127.0.0.1:50051`.
"""

import asyncio
import gc
import signal
import sys
from typing import Final

import structlog
import uvloop
from asyncpg import PostgresError
from pydantic import ValidationError

from baohuang.eventlog.port import LogUnavailable
from baohuang.rpc.auth import InsecureListenError
from baohuang.rpc.key_ring import KeysUnavailableError
from baohuang.rpc.log import configure_logging
from baohuang.rpc.server import ListenError, RpcServer
from table_service.settings import TableSettings
from table_service.wiring import SERVICES, wired

_COLLECT_AFTER: Final = (20_000, 20, 100)
"""Objects made and not freed before the youngest are collected, and how many collections before older ones are."""
_log = structlog.get_logger("table_service")


async def serve(settings: TableSettings, stop: asyncio.Event) -> None:
    """Serve until `stop` is set, then drain.

    Raises ListenError, InsecureListenError, KeysUnavailableError; OSError, asyncpg.PostgresError and LogUnavailable
    without a database.
    """
    server = RpcServer(settings, settings.table_listen)
    async with wired(server, settings) as hub:
        port = await server.start(*SERVICES)
        _collect_seldom()
        _announce(settings.table_listen.rpartition(":")[0], port)
        await stop.wait()
        _log.info("draining", grace_seconds=settings.drain_grace_seconds)
        hub.drain()
        await server.drain()


def main() -> None:
    """Run the service. Exits with 1 and one line of text when it cannot be configured or cannot listen."""
    try:
        settings = TableSettings()  # type: ignore[call-arg] # from the environment
        configure_logging(settings.log_level, settings.replica)
        uvloop.run(_until_signalled(settings))
    except (
        ValidationError,
        ListenError,
        InsecureListenError,
        KeysUnavailableError,
        OSError,
        PostgresError,
        LogUnavailable,
    ) as error:
        sys.exit(f"table service: {error}")


async def _until_signalled(settings: TableSettings) -> None:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    await serve(settings, stop)


def _collect_seldom() -> None:
    """Spare looking through tables and code for cycles: plays over streams leave none behind, calls a handful.

    With the interpreter's own settings it takes a sixth of a busy replica's time, in pauses that grow with its tables.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECT_AFTER)


def _announce(host: str, port: int) -> None:
    sys.stdout.write(f"listening on {host}:{port}\n")
    sys.stdout.flush()
    _log.info("serving", address=f"{host}:{port}")


if __name__ == "__main__":
    main()
