"""Where a server keeps its files.

Below the data folder, as a rule. When we are root and the server's user cannot get there (a checkout under
`/root`, mode 0700), the files live in `/var/tmp/baohuang-<digest of the data folder's path>`, which survives a
reboot and is the same at every start; the data folder then holds a symbolic link to it.
"""

import hashlib
import os
import tempfile
from pathlib import Path

from baohuang.embedded.account import Account, passable_folder
from baohuang.embedded.errors import UnsafeFolder

_SURVIVES_REBOOT = Path("/var/tmp")  # noqa: S108 - the folder made below is checked for its owner and mode


def server_home(data_dir: Path, name: str, account: Account) -> Path:
    """Make, or find, the folder of server `name`: ours, mode 0711; what `account` reads or writes is made inside.

    A link made at an earlier start is followed, so a data folder may be moved. Raises UnsafeFolder when somebody else
    made the folder first, or when what is there cannot be reached by `account` any more.
    """
    data_dir.mkdir(parents=True, exist_ok=True)
    wanted = data_dir.resolve() / name
    if wanted.is_symlink() and wanted.exists():
        return passable_folder(wanted.resolve())
    if wanted.is_symlink():  # to a folder that is gone
        wanted.unlink()
    if account.can_reach(wanted):
        return passable_folder(wanted)
    if wanted.exists():
        raise UnsafeFolder(f"{wanted} is in use, but user {account.uid} cannot get there any more; open its parents")
    home = passable_folder(outside_folder(data_dir) / name)
    wanted.symlink_to(home)
    return home


def outside_folder(data_dir: Path) -> Path:
    """Make, or find, the folder outside `data_dir` that stands in for it: ours, mode 0711."""
    digest = hashlib.sha256(os.fsencode(data_dir.resolve())).hexdigest()[:16]
    base = _SURVIVES_REBOOT if _SURVIVES_REBOOT.is_dir() else Path(tempfile.gettempdir())
    return passable_folder(base / f"baohuang-{digest}")
