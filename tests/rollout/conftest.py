"""A fleet over a database and a NATS of its own."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest

from baohuang.embedded.nats import EmbeddedNats
from command_line.development_key import DevelopmentKey
from fleet.fleet import Fleet, Place, fleet_on

QUICK: Final = {
    "BAOHUANG_FILL_WITH_BOTS_AFTER": "1",
    "BAOHUANG_BOTS_THINK_SECONDS": "0.3",
    # No stream ends for its age: whoever is sent away is so by a drain.
    "BAOHUANG_MAX_CONNECTION_AGE_SECONDS": "3600",
}


@pytest.fixture
async def nats_server(tmp_path: Path) -> AsyncIterator[EmbeddedNats]:
    """Give a nats-server that runs."""
    server = EmbeddedNats(tmp_path / "servers")
    await server.start()
    yield server
    await server.destroy()


@pytest.fixture
async def place(own_database_dsn: str, nats_server: EmbeddedNats, tmp_path: Path) -> Place:
    """Give what a fleet stands on."""
    folder = tmp_path / "fleet"
    folder.mkdir()
    return Place(folder, own_database_dsn, nats_server, DevelopmentKey.made_or_found(folder), QUICK)


@pytest.fixture
async def fleet(place: Place) -> AsyncIterator[Fleet]:
    """Give a fleet of which nothing runs yet."""
    async with fleet_on(place) as fleet:
        yield fleet
