"""The versions that the tests run against, which are the ones to deploy."""

import re
import subprocess
import tomllib
from functools import cache
from pathlib import Path

from baohuang.embedded.nats import nats_binary
from baohuang.embedded.postgres_binaries import installed_binaries
from deploy.tree import ROOT


@cache
def image_of(name: str) -> str:
    """Return the image of a program with the tag that is to be deployed."""
    match name:
        case "baohuang":
            return f"baohuang:{_of_this_tree()}"
        case "postgres":
            return f"postgres:{_version(installed_binaries().postgres)}"
        case "nats":
            return f"nats:{_version(nats_binary())}-alpine"
        case other:
            raise AssertionError(f"nothing of the name {other} was tested")


def _of_this_tree() -> str:
    """Return the version that an installation of this tree has; what is installed here may be older."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project["version"])


def _version(program: Path) -> str:
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout  # noqa: S603
    found = re.search(r"\d+(\.\d+)+", said)
    assert found is not None
    return found.group()
