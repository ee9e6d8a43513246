"""Who runs a server, and which folders that user can reach.

PostgreSQL refuses to run as root. Started by root we run it as the existing user `nobody`; no user is added and
no folder's permissions are widened to make room for it.
"""

import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path

from baohuang.embedded.errors import NoUnprivilegedUser, UnsafeFolder

UNPRIVILEGED = "nobody"


@dataclass(frozen=True, slots=True)
class Account:
    """A user and group id to run a server as; `switches` says that it is not ours."""

    uid: int
    gid: int

    @property
    def switches(self) -> bool:
        """True when a child has to change its user to become this account."""
        return self.uid != os.geteuid()

    def can_reach(self, path: Path) -> bool:
        """Whether every folder above `path` may be passed through by this account."""
        folder = path.parent.resolve()
        return all(self._may_pass(passed) for passed in (folder, *folder.parents))

    def _may_pass(self, folder: Path) -> bool:
        """Whether the mode bits let this account through; access lists are not looked at."""
        if not self.switches:
            return os.access(folder, os.X_OK)
        found = folder.stat()
        if found.st_uid == self.uid:
            return bool(found.st_mode & stat.S_IXUSR)
        if found.st_gid == self.gid:
            return bool(found.st_mode & stat.S_IXGRP)
        return bool(found.st_mode & stat.S_IXOTH)

    def private_folder(self, path: Path) -> None:
        """Make `path`, in a folder of ours, a folder that only this account may look into."""
        path.mkdir(mode=0o700)
        os.chown(path, self.uid, self.gid)


def server_account() -> Account:
    """Give the account to run PostgreSQL as: ours, or `nobody` when we are root. Raises NoUnprivilegedUser."""
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid())
    try:
        found = pwd.getpwnam(UNPRIVILEGED)
    except KeyError:
        raise NoUnprivilegedUser(f"running as root needs a user called {UNPRIVILEGED!r} for PostgreSQL") from None
    return Account(found.pw_uid, found.pw_gid)


def check_owner(path: Path, uid: int) -> None:
    """Raise UnsafeFolder unless `path` is a real folder of user `uid` that nobody else may write to."""
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != uid or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise UnsafeFolder(f"{path} must be a folder of user {uid}, closed to others' writes; it is not")


def passable_folder(path: Path) -> Path:
    """Make `path` a folder of ours that others may pass through and not list, or check that it is one of ours.

    What we write in it as root cannot be redirected by the account a server runs as, which owns no part of it.
    Raises UnsafeFolder when it is there but another user's.
    """
    if not path.exists():
        path.mkdir(mode=0o700)
        path.chmod(0o711)
    check_owner(path, os.geteuid())
    return path
