"""A process that relays a log until it is killed: `python -m stream.relaying_process DSN URL BATCH`."""

import asyncio
import sys
from dataclasses import replace

from baohuang.database.pool import Limits, open_pool
from baohuang.stream.connection import connect_to
from baohuang.stream.lease import Lease
from baohuang.stream.log_source import LogSource
from baohuang.stream.relay import Relay
from baohuang.stream.streams import TABLE_STREAM
from stream.numbers import FAST
from table_service.relaying import LOG_SOURCE, RELAY_IDENTITY


async def main(dsn: str, url: str, batch: int) -> None:
    """Relay for ever."""
    async with await open_pool(dsn, 2, Limits(), RELAY_IDENTITY) as pool:
        lease, connect = Lease(pool, LOG_SOURCE, seconds=1.0), connect_to(url, "relaying")
        await Relay(LogSource(pool), TABLE_STREAM, lease, connect, replace(FAST, batch=batch)).run()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
