"""A real PostgreSQL as our child process, under a data folder of its own.

One owner a folder, for as long as `EmbeddedPostgres` is started:

    start: lock the folder → stop what a killed owner left behind → initdb once → start → connect → create database
    stop:  fast shutdown (SIGINT) → immediate (SIGQUIT) after 30 s → unlock

It listens on 127.0.0.1 only, asks for a random password (`password`, mode 0600), and makes no Unix socket. As
root it runs as `nobody`; see `account` and `home`.
"""

import asyncio
import shutil
import signal
from pathlib import Path
from types import TracebackType

from baohuang.embedded.account import Account, server_account
from baohuang.embedded.child import Child
from baohuang.embedded.errors import EmbeddedServerError
from baohuang.embedded.home import server_home
from baohuang.embedded.leftover import stop_leftover
from baohuang.embedded.lock import FolderLock
from baohuang.embedded.ports import free_port
from baohuang.embedded.postgres_binaries import binaries_for
from baohuang.embedded.postgres_cluster import answers, ensure_database, launch, make_cluster

STOP_STEPS = ((signal.SIGINT, 30.0), (signal.SIGQUIT, 10.0))
# A start may lose its port to another process, or meet the last processes of a server that was just killed.
_TRIES = 3


class EmbeddedPostgres:
    """A PostgreSQL server below `data_dir`, as `async with EmbeddedPostgres(folder) as dsn`.

    Starting raises DataFolderInUse when another process runs it there, ServerDied (with the tail of the log) when
    it does not come up, NoUnprivilegedUser and UnsafeFolder as said in `account` and `home`.
    """

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._home: Path | None = None
        self._lock: FolderLock | None = None
        self._child: Child | None = None

    async def __aenter__(self) -> str:
        return await self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.stop()

    @property
    def child(self) -> Child:
        """The running server. Raises EmbeddedServerError when it is not started."""
        if self._child is None:
            raise EmbeddedServerError("PostgreSQL is not started")
        return self._child

    async def start(self) -> str:
        """Start it, or start it again on what is there. Gives the DSN of its superuser; ready to take connections."""
        account = server_account()
        self._home = server_home(self._data_dir, "postgres", account)
        self._lock = FolderLock(self._home)
        self._lock.acquire()
        try:
            return await self._start_locked(self._home, account)
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Shut it down in order and let go of the folder; harmless when it is not started."""
        child, self._child = self._child, None
        if child is not None:
            await child.stop(STOP_STEPS)
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    async def destroy(self) -> None:
        """Stop it and remove its files, data included."""
        await self.stop()
        if self._home is not None:
            for folder in _made_for(self._data_dir, self._home):
                await asyncio.to_thread(shutil.rmtree, folder)
            (self._data_dir / "postgres").unlink(missing_ok=True)
            self._home = None

    async def _start_locked(self, home: Path, account: Account) -> str:
        await stop_leftover(home / "data" / "postmaster.pid", str(home / "data"), STOP_STEPS)
        binaries = await asyncio.to_thread(binaries_for, account, home.parent)
        if not (home / "data").exists():
            await make_cluster(home, account, binaries)
        for _ in range(_TRIES):
            port = free_port()
            self._child = launch(home, account, binaries, port)
            if await answers(self._child, home, port):
                return await ensure_database(home, port)
            if self._child.exit_code is None:
                break
        raise self.child.died()


def _made_for(data_dir: Path, home: Path) -> list[Path]:
    """Give the folders to remove with the server: its home, or the whole stand-in outside the data folder."""
    return [home if home.parent == data_dir.resolve() else home.parent]
