"""The log's relay, which every replica of this service runs: one of them publishes, the others stand by."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from baohuang.database.pool import Identity, Limits, open_pool
from baohuang.stream.connection import connect_to
from baohuang.stream.lease import Lease
from baohuang.stream.log_source import LogSource
from baohuang.stream.relay import Relay
from baohuang.stream.streams import TABLE_STREAM
from baohuang.stream.working import at_work

RELAY_IDENTITY: Final = Identity("baohuang relay", "baohuang_app", "eventlog")
LOG_SOURCE: Final = "log"
"""The name of the log's lease."""
_CONNECTIONS: Final = 2


@asynccontextmanager
async def relaying(dsn: str, nats_url: str | None) -> AsyncIterator[Callable[[], None]]:
    """Publish the log to JetStream until the end of the block; without a NATS nothing is published.

    Gives what is to be called when something was appended. Raises OSError, asyncpg.PostgresError.
    """
    if nats_url is None:
        yield _nobody_to_tell
        return
    async with await open_pool(dsn, _CONNECTIONS, Limits(), RELAY_IDENTITY) as pool:
        lease, connect = Lease(pool, LOG_SOURCE), connect_to(nats_url, "baohuang relay of the log")
        relay = Relay(LogSource(pool), TABLE_STREAM, lease, connect)
        async with at_work(relay):
            yield relay.poke


def _nobody_to_tell() -> None:
    """Do nothing."""
