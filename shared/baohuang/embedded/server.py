"""What the embedded servers have in common: one owner a folder, an orderly end, a way to remove all traces."""

import asyncio
import shutil
import signal
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import ClassVar

from baohuang.embedded.account import Account
from baohuang.embedded.child import Child
from baohuang.embedded.errors import EmbeddedServerError
from baohuang.embedded.home import server_home
from baohuang.embedded.lock import FolderLock


class EmbeddedServer(ABC):
    """A server under `data_dir/<name>`, ours from `start` to `stop`; `async with server as url` does both.

    Starting raises DataFolderInUse when another process runs it there, ServerDied (with the tail of its log) when it
    does not come up, NoUnprivilegedUser and UnsafeFolder as said in `account` and `home`.
    """

    name: ClassVar[str]
    stop_steps: ClassVar[Sequence[tuple[signal.Signals, float]]]
    """Signals to end it with and the seconds each is given."""

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
            raise EmbeddedServerError(f"{self.name} is not started")
        return self._child

    async def start(self) -> str:
        """Start it, or start it again on what is there. Gives its URL, credentials included; ready for clients."""
        account = self._account()
        self._home = server_home(self._data_dir, self.name, account)
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
            await child.stop(self.stop_steps)
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    async def destroy(self) -> None:
        """Stop it and remove its files, data included."""
        await self.stop()
        if self._home is None:
            return
        within = self._data_dir.resolve() / self.name
        stand_in = within.is_symlink()
        await asyncio.to_thread(shutil.rmtree, self._home.parent if stand_in else self._home)
        if stand_in:
            within.unlink()
        self._home = None

    @abstractmethod
    def _account(self) -> Account:
        """Give the account to run it as."""

    @abstractmethod
    async def _start_locked(self, home: Path, account: Account) -> str:
        """Set `_child` and give the URL once clients are served; the folder is ours alone."""
