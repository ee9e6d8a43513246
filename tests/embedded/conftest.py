"""Folders for embedded servers, and servers that leave nothing behind."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from baohuang.embedded.nats import EmbeddedNats
from baohuang.embedded.postgres import EmbeddedPostgres


@pytest.fixture
async def postgres(folder: Path) -> AsyncIterator[EmbeddedPostgres]:
    """Give a PostgreSQL not yet started, removed afterwards."""
    server = EmbeddedPostgres(folder / "data")
    yield server
    await server.destroy()


@pytest.fixture
async def nats_server(folder: Path) -> AsyncIterator[EmbeddedNats]:
    """Give a nats-server not yet started, removed afterwards."""
    server = EmbeddedNats(folder / "data")
    yield server
    await server.destroy()
