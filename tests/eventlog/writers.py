"""A process that is one of several replicas: `python -m eventlog.writers DSN WRITERS APPENDS STREAM…`.

Each writer makes so many appends, to one stream after the other, and decides again on every conflict. What it won is
printed, a line an append: stream, version, position, hash.
"""

import asyncio
import sys

from baohuang.eventlog.port import NO_HASH, NO_VERSION, Appended, EventLog, StreamId, VersionConflict
from baohuang.eventlog.postgres.log import open_log
from eventlog.commands import after


async def write(log: EventLog, stream_id: StreamId) -> str:
    """Append one event, however often it takes, and return the line that says so."""
    end: Appended | VersionConflict = VersionConflict(NO_VERSION, NO_HASH)
    while True:
        outcome = await log.append(after(stream_id, end))
        match outcome:
            case Appended():
                return f"{stream_id} {outcome.version} {outcome.position} {outcome.hash.hex()}"
            case VersionConflict():
                end = outcome
            case other:
                raise AssertionError(other)


async def writer(log: EventLog, number: int, appends: int, streams: list[StreamId]) -> list[str]:
    """Make so many appends, beginning with another stream than the next writer."""
    return [await write(log, streams[(number + turn) % len(streams)]) for turn in range(appends)]


async def main(dsn: str, writers: int, appends: int, streams: list[StreamId]) -> None:
    """Run the writers and print what they won."""
    async with open_log(dsn, readers=1) as log:
        won = await asyncio.gather(*(writer(log, number, appends, streams) for number in range(writers)))
    sys.stdout.write("".join(f"{line}\n" for lines in won for line in lines))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), [StreamId(name) for name in sys.argv[4:]]))
