"""The code of the last release, unpacked once, and a fleet over a database and a NATS that no service has used yet."""

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Final

import pytest

from baohuang.embedded.nats import EmbeddedNats
from baohuang.embedded.postgres import EmbeddedPostgres
from command_line.development_key import DevelopmentKey
from databases import Server
from fleet.code import Code
from fleet.fleet import Fleet, Place, fleet_on
from upgrades.releases import last_release, unpack

QUICK: Final = {
    "BAOHUANG_INSECURE_DEV": "true",
    "BAOHUANG_RATE_LIMIT_PER_SECOND": "10000",
    "BAOHUANG_RATE_LIMIT_BURST": "10000",
}
"""Players are believed on their word, and are as fast as they can."""


@pytest.fixture(scope="session")
def before() -> Iterator[Code]:
    """Give the last release's code, installed alone from its wheel."""
    made = Path(tempfile.mkdtemp(prefix="baohuang-test-"))
    made.chmod(0o755)
    code = Code("old", str(unpack(last_release().wheel, made / "code")))
    code.check()
    yield code
    shutil.rmtree(made)


@pytest.fixture
async def place(folder: Path) -> AsyncIterator[Place]:
    """Give an empty database and NATS, of a cluster that has never run this system."""
    postgres, nats = EmbeddedPostgres(folder), EmbeddedNats(folder)
    async with postgres as dsn, nats:
        Server(dsn).hurry()
        yield Place(folder, dsn, nats, DevelopmentKey.made_or_found(folder), QUICK, metrics=True)


@pytest.fixture
async def servers(place: Place) -> AsyncIterator[Fleet]:
    """Give a fleet of which nothing runs yet."""
    async with fleet_on(place) as fleet:
        yield fleet
