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

_SURVIVES_REBOOT = Path("/var/tmp")  # noqa: S108 - the folder made below is checked for its owner and mode


def server_home(data_dir: Path, name: str, account: Account) -> Path:
    """Make, or find, the folder of server `name`: ours, mode 0711; what `account` reads or writes is made inside.

    Raises UnsafeFolder when somebody else made the folder first.
    """
    data_dir.mkdir(parents=True, exist_ok=True)
    wanted = data_dir.resolve() / name
    if account.can_reach(wanted):
        return passable_folder(wanted)
    home = passable_folder(outside_folder(data_dir) / name)
    if not wanted.is_symlink():
        wanted.symlink_to(home)
    return home


def outside_folder(data_dir: Path) -> Path:
    """Make, or find, the folder outside `data_dir` that stands in for it: ours, mode 0711."""
    digest = hashlib.sha256(os.fsencode(data_dir.resolve())).hexdigest()[:16]
    base = _SURVIVES_REBOOT if _SURVIVES_REBOOT.is_dir() else Path(tempfile.gettempdir())
    return passable_folder(base / f"baohuang-{digest}")
