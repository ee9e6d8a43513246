"""A real nats-server."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from baohuang.embedded.nats import EmbeddedNats


@pytest.fixture
async def nats_server(tmp_path: Path) -> AsyncIterator[EmbeddedNats]:
    """Give a server that is not started yet; removed in the end."""
    server = EmbeddedNats(tmp_path)
    yield server
    await server.destroy()
