"""Folders and servers for what is deployed."""

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
