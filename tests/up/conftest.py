"""Data folders for `baohuang up`."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Give a folder that every user may pass through (pytest's own are closed to others)."""
    made = Path(tempfile.mkdtemp(prefix="baohuang-test-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


@pytest.fixture
def anybodys_folder(open_folder: Path) -> Path:
    """Give a folder in which every user may make files."""
    made = open_folder / "anybody"
    made.mkdir()
    made.chmod(0o777)
    return made
