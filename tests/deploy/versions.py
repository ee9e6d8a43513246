"""The versions that the tests run against, which are the ones to deploy."""

import re
import subprocess
from functools import cache
from importlib import metadata
from pathlib import Path

from baohuang.embedded.nats import nats_binary
from baohuang.embedded.postgres_binaries import installed_binaries


@cache
def image_of(name: str) -> str:
    """Return the image of a program with the tag that is to be deployed."""
    match name:
        case "baohuang":
            return f"baohuang:{metadata.version('baohuang')}"
        case "postgres":
            return f"postgres:{_version(installed_binaries().postgres)}"
        case "nats":
            return f"nats:{_version(nats_binary())}-alpine"
        case other:
            raise AssertionError(f"nothing of the name {other} was tested")


def _version(program: Path) -> str:
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout  # noqa: S603
    found = re.search(r"\d+(\.\d+)+", said)
    assert found is not None
    return found.group()
