"""One service of this project as a child process: started on a known port, watched until its health says SERVING."""

import os
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from baohuang.embedded.account import Account, passable_folder
from baohuang.embedded.child import Child, Program
from baohuang.embedded.leftover import stop_leftover
from baohuang.embedded.ports import LOOPBACK, kept_port

START_SECONDS = 30.0
STOP_STEPS = ((signal.SIGTERM, 20.0),)
_SERVING = health_pb2.HealthCheckResponse.SERVING


@dataclass(frozen=True, slots=True)
class Service:
    """A service of this project: `python -m <module>`, which reads its address from `listen_variable`."""

    name: str
    module: str
    listen_variable: str


class ServiceProcess:
    """A service with its port, process id and log under `data_dir/<name>`.

    `port` 0 keeps the port of the last start while it is free. `environment` is added to ours.
    """

    def __init__(self, service: Service, data_dir: Path, environment: Mapping[str, str], port: int = 0) -> None:
        self._service = service
        self._home = data_dir.resolve() / service.name
        self._environment = environment
        self._port = port
        self._child: Child | None = None

    @property
    def address(self) -> str:
        """Where it serves: "host:port"; known once it was started."""
        return f"{LOOPBACK}:{self._port}"

    @property
    def child(self) -> Child:
        """The running process. Raises LookupError before the first start."""
        if self._child is None:
            raise LookupError(f"{self._service.name} was not started")
        return self._child

    async def start(self) -> None:
        """Start it and wait until it serves. Raises ServerDied; a restart takes the same port."""
        passable_folder(self._home)
        await stop_leftover(self._home / "pid", self._marker, STOP_STEPS)
        self._port = self._port or kept_port(self._home)
        self._child = Child.start(self._program())
        self._note_pid(self._child.pid)
        if not await _serves(self._child, self.address):
            error = self._child.died()
            await self.stop()
            raise error

    async def stop(self) -> None:
        """Ask it to drain, and wait for its end; harmless when it has ended."""
        if self._child is not None:
            await self._child.stop(STOP_STEPS)

    async def kill(self) -> None:
        """End it with SIGKILL, as a crash would."""
        await self.child.stop(())

    @property
    def _marker(self) -> str:
        # Python ignores -X options it does not know: this one lets a leftover be told by its command line.
        return f"baohuang-home={self._home}"

    def _program(self) -> Program:
        arguments = [sys.executable, "-X", self._marker, "-m", self._service.module]
        environment = {**os.environ, **self._environment, self._service.listen_variable: self.address}
        account = Account(os.geteuid(), os.getegid())
        log = self._home / "log"
        return Program(self._service.name, arguments, log, self._home, environment, account, signal.SIGTERM)

    def _note_pid(self, pid: int) -> None:
        (self._home / "pid").write_text(f"{pid}\n")


async def _serves(child: Child, address: str) -> bool:
    """Wait until health answers SERVING; False when the process ended or START_SECONDS went by."""
    deadline = time.monotonic() + START_SECONDS
    options = (("grpc.initial_reconnect_backoff_ms", 50), ("grpc.max_reconnect_backoff_ms", 200))
    async with grpc.aio.insecure_channel(address, options=options) as channel:
        check = health_pb2_grpc.HealthStub(channel).Check
        while child.exit_code is None and time.monotonic() < deadline:
            try:
                reply = await check(health_pb2.HealthCheckRequest(), timeout=0.5, wait_for_ready=True)
            except grpc.aio.AioRpcError:  # not listening yet
                continue
            if reply.status == _SERVING:
                return True
    return False
