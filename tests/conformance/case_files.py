"""The cases of the rules that come with the project."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent / "cases"

Case = dict[str, Any]


def all_lines() -> list[str]:
    """Return the lines of all case files, in the files' order."""
    return [line for path in sorted(FOLDER.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()]


def all_cases() -> Iterator[Case]:
    """Yield every case."""
    yield from map(json.loads, all_lines())


def expected_part(case: Case, verdict: Case) -> Case:
    """Return the keys of the verdict that the case's `expect` names: only those are compared."""
    return {key: verdict.get(key, "no such key") for key in case["expect"]}
