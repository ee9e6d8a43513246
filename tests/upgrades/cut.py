"""`make release-artifact`: build what is kept of a release, from the commit that is checked out.

The wheel is built of what git has, and it is the wheel's own code that plays what the dump holds.
"""

import asyncio
import gzip
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

import msgspec

from baohuang.embedded.postgres_binaries import installed_binaries
from deploy.tree import ROOT
from fleet.settled import all_settled
from up.running import dsn_of, up
from upgrades.played import Addresses, Played, play_all
from upgrades.releases import RELEASES, unpack

_NEEDED: Final = ("shared", "services", "pyproject.toml", "README.md", "LICENSE")


def build(folder: Path) -> Path:
    """Build the wheel of the commit that is checked out into a folder, and return it."""
    source = folder / "source"
    source.mkdir()
    packed = subprocess.run(["git", "-C", ROOT, "archive", "HEAD", *_NEEDED], check=True, capture_output=True)  # noqa: S603, S607
    subprocess.run(["tar", "-x", "-C", str(source)], input=packed.stdout, check=True)  # noqa: S603, S607
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--wheel-dir", str(folder), str(source)], check=True)  # noqa: S603 - pip
    (wheel,) = folder.glob("*.whl")
    return wheel


def dump(dsn: str) -> bytes:
    """Return a plain dump of a database, as SQL, packed; the same dump gives the same bytes."""
    binaries = installed_binaries()
    command = [str(binaries.prefix / "bin/pg_dump"), "--format=plain", "--no-owner", dsn]
    plain = subprocess.run(command, check=True, capture_output=True, env=binaries.environment).stdout  # noqa: S603
    return gzip.compress(plain, mtime=0)


async def fill(code: Path, data: Path) -> tuple[Played, bytes]:
    """Run the release's code on an empty folder, play, and return what was played and the dump of it."""
    options = ("--insecure-dev", "--rate-limit", "inf")
    async with up(data, *options, environment={"PYTHONPATH": str(code)}) as started:
        await started.ready()
        played = await play_all(Addresses(started.address, started.address_of("matchmaking")))
        await all_settled(dsn_of(started))
        return played, dump(dsn_of(started))


def cut() -> Path:
    """Make the folder of the release, and return it. Raises FileExistsError if it was made before."""
    with tempfile.TemporaryDirectory(prefix="baohuang-release-") as made:
        folder = Path(made)
        folder.chmod(0o755)
        wheel = build(folder)
        release = RELEASES / wheel.name.split("-")[1]
        release.mkdir(parents=True)
        played, dumped = asyncio.run(fill(unpack(wheel, folder / "code"), folder / "data"))
        shutil.copy(wheel, release)
        (release / "database.sql.gz").write_bytes(dumped)
        (release / "played.json").write_bytes(msgspec.json.format(msgspec.json.encode(played)) + b"\n")
    buf = Path(sys.executable).with_name("buf")
    contract = str(release / "contract.binpb.gz")
    subprocess.run([str(buf), "build", str(ROOT / "proto"), "--output", contract], check=True)  # noqa: S603
    return release


if __name__ == "__main__":
    made = cut()
    for file in sorted(made.iterdir()):
        print(f"{file.stat().st_size:>9} {file.relative_to(ROOT)}")  # noqa: T201
