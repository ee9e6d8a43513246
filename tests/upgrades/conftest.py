"""The code of the last release, unpacked once, and fleets over a database and a NATS that no service has used yet."""

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
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
async def nats_server(folder: Path) -> AsyncIterator[EmbeddedNats]:
    """Give a nats-server that runs."""
    server = EmbeddedNats(folder)
    async with server:
        yield server


@pytest.fixture
def place(own_database_dsn: str, nats_server: EmbeddedNats, folder: Path) -> Place:
    """Give a database with the schema that this tree makes of an empty one, and an empty NATS."""
    return Place(folder, own_database_dsn, nats_server, DevelopmentKey.made_or_found(folder), QUICK, metrics=True)


@pytest.fixture
async def empty_place(place: Place) -> AsyncIterator[Place]:
    """Give an empty database of a cluster that has never run this system, and an empty NATS."""
    async with EmbeddedPostgres(place.folder) as dsn:
        Server(dsn).hurry()
        yield replace(place, dsn=dsn)


@pytest.fixture
async def servers(place: Place) -> AsyncIterator[Fleet]:
    """Give a fleet on the database of this tree's schema, of which nothing runs yet."""
    async with fleet_on(place) as fleet:
        yield fleet
