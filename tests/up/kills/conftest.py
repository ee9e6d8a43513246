"""How large a run is, from the command line."""

import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from up.kills.scale import Scale


@pytest.fixture
def scale(request: pytest.FixtureRequest) -> Scale:
    """Give the run that was asked for; a fresh seed unless one was given."""
    option = request.config.getoption
    seed = option("--kill-seed")
    fresh = secrets.randbelow(1_000_000) if seed is None else seed
    return Scale(option("--kill-tables"), option("--kill-hands"), option("--kills"), fresh)


@pytest.fixture
def logs_kept(data: Path, tmp_path: Path) -> Iterator[None]:
    """Copy the logs of all processes to pytest's folder of the test, which outlives it."""
    yield
    for log in (*data.glob("*/log"), *data.glob("*/*.log")):
        shutil.copyfile(log, tmp_path / f"{log.parent.name}.log")
    print(f"the logs of all processes are in {tmp_path}")
