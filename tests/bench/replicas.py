"""The same tables spread over several processes."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process


async def appended(dsn: str, tables: int, seconds: float, processes: int) -> float:
    """Return the events a second of all processes together, `tables` being spread over them."""
    shares = [tables // processes + (number < tables % processes) for number in range(processes)]
    replicas = [await _start(dsn, share, seconds) for share in shares]
    for replica in replicas:
        if await _line(replica) != "ready":
            raise RuntimeError("a replica did not come up")
    for replica in replicas:
        replica.stdin.write(b"go\n")  # type: ignore[union-attr]
    rates = [float(await _line(replica)) for replica in replicas]
    await asyncio.gather(*(replica.wait() for replica in replicas))
    return sum(rates)


async def _start(dsn: str, tables: int, seconds: float) -> Process:
    module = f"{__package__}.tables"
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, dsn, str(tables), str(seconds), stdin=PIPE, stdout=PIPE
    )


async def _line(replica: Process) -> str:
    line = await replica.stdout.readline()  # type: ignore[union-attr]
    return line.decode().strip()
