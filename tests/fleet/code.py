"""Whose code a replica runs: this tree's, or that of a release before it."""

import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Code:
    """A release's code: a name for its processes, and what is their PYTHONPATH."""

    name: str
    path: str

    def check(self) -> None:
        """Check that a process with this path runs this code, and no other that is installed here."""
        packages = ("baohuang", "table_service", "scoring_service", "rating_service", "matchmaking_service")
        program = f"import {', '.join(packages)}; print({', '.join(f'{name}.__file__' for name in packages)})"
        environment = {**os.environ, "PYTHONPATH": self.path}
        ran = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, env=environment)  # noqa: S603
        folders = self.path.split(os.pathsep)
        for file in ran.stdout.decode().split():
            assert any(file.startswith(f"{folder}/") for folder in folders), file


THIS: Final = Code("new", os.pathsep.join(sys.path))
