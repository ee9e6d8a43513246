"""A replica that starts: `python -m eventlog.starting_replica DSN` migrates, opens the log and appends one event."""

import asyncio
import sys

from baohuang.eventlog.postgres.log import open_log
from baohuang.eventlog.postgres.migrations import migrate
from eventlog.commands import accepted, command, new_stream


async def main(dsn: str) -> None:
    """Start, and print the position of the first event."""
    await asyncio.to_thread(migrate, dsn)
    async with open_log(dsn) as log:
        sys.stdout.write(str((await accepted(log, command(new_stream()))).position))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
