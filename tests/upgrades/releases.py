"""The releases there were, each as it was built: `releases/VERSION/` beside this file, made by `make release-artifact`.

baohuang-VERSION-py3-none-any.whl   its code, with its migrations
database.sql.gz                     a plain dump of a database that its services filled
contract.binpb.gz                   the contract, as `buf build` makes it
played.json                         what is in the dump
"""

import gzip
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from upgrades.played import Played

RELEASES: Final = Path(__file__).parent / "releases"


@dataclass(frozen=True, slots=True)
class Release:
    """A release by its version, in its folder."""

    version: str

    @property
    def folder(self) -> Path:
        """Where its files are."""
        return RELEASES / self.version

    @property
    def wheel(self) -> Path:
        """Its code."""
        return self.folder / f"baohuang-{self.version}-py3-none-any.whl"

    @property
    def contract(self) -> Path:
        """Its contract."""
        return self.folder / "contract.binpb.gz"

    @property
    def dump(self) -> str:
        """Its dump, as SQL for psql."""
        return gzip.decompress((self.folder / "database.sql.gz").read_bytes()).decode()

    @property
    def played(self) -> Played:
        """What is in the dump."""
        return msgspec.json.decode((self.folder / "played.json").read_bytes(), type=Played)


def releases() -> tuple[Release, ...]:
    """Return all releases, oldest first."""
    found = (folder.name for folder in RELEASES.iterdir() if folder.is_dir())
    return tuple(map(Release, sorted(found, key=lambda name: [int(part) for part in name.split(".")])))


def last_release() -> Release:
    """Return the release before this tree."""
    return releases()[-1]


def unpack(wheel: Path, folder: Path) -> Path:
    """Install a wheel alone into a folder, which is to be PYTHONPATH beside the environment's libraries; return it."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target"]
    subprocess.run([*pip, str(folder), str(wheel)], check=True)  # noqa: S603 - pip
    folder.chmod(0o755)
    return folder
