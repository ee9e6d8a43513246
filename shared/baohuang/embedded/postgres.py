"""A real PostgreSQL as our child process, under a data folder of its own.

One owner a folder, for as long as `EmbeddedPostgres` is started:

    start: lock the folder → stop what a killed owner left behind → initdb once → start → connect → create database
    stop:  fast shutdown (SIGINT) → immediate (SIGQUIT) after 30 s → unlock

It listens on 127.0.0.1 only, asks for a random password (`password`, mode 0600), and makes no Unix socket. As
root it runs as `nobody`; see `account` and `home`. The port is kept from start to start while it stays free.
"""

import asyncio
import signal
from pathlib import Path

from baohuang.embedded.account import Account, server_account
from baohuang.embedded.leftover import stop_leftover
from baohuang.embedded.ports import kept_port
from baohuang.embedded.postgres_binaries import binaries_for
from baohuang.embedded.postgres_cluster import answers, ensure_database, launch, make_cluster
from baohuang.embedded.server import EmbeddedServer

# A start may lose its port to another process, or meet the last processes of a server that was just killed.
_TRIES = 3


class EmbeddedPostgres(EmbeddedServer):
    """PostgreSQL under `data_dir/postgres`; `start` gives the DSN of its superuser on the database `baohuang`."""

    name = "postgres"
    stop_steps = ((signal.SIGINT, 30.0), (signal.SIGQUIT, 10.0))

    def _account(self) -> Account:
        return server_account()

    async def _start_locked(self, home: Path, account: Account) -> str:
        await stop_leftover(home / "data" / "postmaster.pid", str(home / "data"), self.stop_steps)
        binaries = await asyncio.to_thread(binaries_for, account, home.parent)
        if not (home / "data").exists():
            await make_cluster(home, account, binaries)
        for _ in range(_TRIES):
            port = kept_port(home)
            self._child = launch(home, account, binaries, port)
            if await answers(self._child, home, port):
                return await ensure_database(home, port)
            if self._child.exit_code is None:
                break
        raise self.child.died()
