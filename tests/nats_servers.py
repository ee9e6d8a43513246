"""A real nats-server with a configuration of a test's own."""

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from baohuang.embedded.account import Account
from baohuang.embedded.child import Child, Program
from baohuang.embedded.nats import nats_binary
from baohuang.embedded.ports import free_port
from eventually import eventually


@asynccontextmanager
async def nats_with(folder: Path, configuration: str) -> AsyncIterator[tuple[Child, int]]:
    """Run one with JetStream and such lines in its configuration; give the process and its port."""
    port, pid_file = free_port(), folder / "nats.pid"
    lines = (f'listen: "127.0.0.1:{port}"', f'pid_file: "{pid_file}"', f'jetstream {{ store_dir: "{folder}/store" }}')
    (folder / "nats.conf").write_text("\n".join((*lines, configuration)))
    arguments = [str(nats_binary()), "-c", str(folder / "nats.conf")]
    account = Account(os.geteuid(), os.getegid())
    environment = {"PATH": os.defpath}
    log = folder / "nats.log"
    child = Child.start(Program("nats", arguments, log, folder, environment, account, signal.SIGTERM))

    async def ready() -> bool:
        if child.exit_code is not None:
            raise child.died()
        return log.exists() and "Server is ready" in log.read_text()

    try:
        await eventually(ready, 30)
        yield child, port
    finally:
        await child.stop(((signal.SIGTERM, 10.0),))
