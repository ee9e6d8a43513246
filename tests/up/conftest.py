"""Data folders for `baohuang up`."""

import asyncio
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from baohuang.embedded.postgres import EmbeddedPostgres


@pytest.fixture(scope="session")
def cluster() -> Iterator[Path]:
    """Give the folder of a PostgreSQL that was started once and stopped, to copy: initdb costs a test seconds."""
    made = Path(tempfile.mkdtemp(prefix="baohuang-test-"))
    made.chmod(0o755)
    server = EmbeddedPostgres(made)
    asyncio.run(server.start())
    asyncio.run(server.stop())
    (made / "postgres/port").unlink()
    yield made / "postgres"
    asyncio.run(server.destroy())
    shutil.rmtree(made)


@pytest.fixture
def data(folder: Path, cluster: Path) -> Path:
    """Give a data folder in which the cluster is already made."""
    made = folder / "data"
    made.mkdir()
    subprocess.run(["cp", "-a", str(cluster), str(made)], check=True)  # noqa: S603, S607 - keeps the owners
    return made


@pytest.fixture
def anybodys_folder(folder: Path) -> Path:
    """Give a folder in which every user may make files."""
    made = folder / "anybody"
    made.mkdir()
    made.chmod(0o777)
    return made
