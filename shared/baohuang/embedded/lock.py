"""One owner a data folder: an advisory lock the kernel drops when its holder dies, however it dies."""

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from baohuang.embedded.errors import DataFolderInUse


class FolderLock:
    """Holds `folder/lock` exclusively from entry to exit.

    The file holds the owner's process id, for the message only; the lock itself is `flock`, so a file
    left by a killed owner locks nothing.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._descriptor: int | None = None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.release()

    def acquire(self) -> None:
        """Take the lock at once. Raises DataFolderInUse when another process has it."""
        descriptor = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.read(descriptor, 32).strip()
            os.close(descriptor)
            raise DataFolderInUse(self._folder, int(owner) if owner.isdigit() else None) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        self._descriptor = descriptor

    def release(self) -> None:
        """Let go; harmless when not held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
