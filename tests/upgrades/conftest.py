"""The code of the last release, unpacked once, and folders for servers."""

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from upgrades.fleet import Code, Fleet, fleet
from upgrades.releases import last_release, unpack


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
async def servers(folder: Path) -> AsyncIterator[Fleet]:
    """Give an empty database and NATS, which no service uses yet."""
    async with fleet(folder) as started:
        yield started
