"""Replicas of the matchmaking service as processes, to be killed."""

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc

from baohuang.embedded.ports import free_port
from matchmaking.serving import Caller

_CHECKOUT = Path(__file__).parents[2]
_SOURCES = os.pathsep.join(str(_CHECKOUT / root) for root in ("shared", "services"))
_START_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Running:
    """A replica in a process of its own, and a channel to it."""

    process: Process
    channel: grpc.aio.Channel

    def caller(self, player: str) -> Caller:
        """Return somebody who calls this replica."""
        return Caller(self.channel, player)

    async def kill(self) -> None:
        """End it with SIGKILL, as a crash would."""
        self.process.kill()
        await self.process.wait()


@asynccontextmanager
async def running(dsn: str, table_address: str) -> AsyncIterator[Running]:
    """Run a replica until the end of the block, if it is not killed before."""
    chosen = {
        "BAOHUANG_POSTGRES_DSN": dsn,
        "BAOHUANG_TABLE_ADDRESS": table_address,
        "BAOHUANG_INSECURE_DEV": "true",
        "PYTHONPATH": _SOURCES,
    }
    command = (sys.executable, "-m", "matchmaking_service.main")
    process = await asyncio.create_subprocess_exec(*command, env={**os.environ, **chosen}, stdout=PIPE, stderr=DEVNULL)
    try:
        address = await asyncio.wait_for(_address(process), _START_SECONDS)
        async with grpc.aio.insecure_channel(address) as channel:
            yield Running(process, channel)
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


def nobody_there() -> str:
    """Return an address of this machine where nothing listens yet."""
    return f"127.0.0.1:{free_port()}"


async def _address(process: Process) -> str:
    assert process.stdout is not None
    line = (await process.stdout.readline()).decode()
    assert line.startswith("listening on "), line
    return line.removeprefix("listening on ").strip()
