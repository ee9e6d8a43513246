"""The metrics that the page for operators says services export; `test_services` holds it to what they do."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_PAGE = Path(__file__).parents[2] / "docs/operations.md"


@dataclass(frozen=True, slots=True)
class Documented:
    """A line of the page's table."""

    name: str
    kind: str
    labels: tuple[str, ...]
    services: frozenset[str]
    says: str


def documented() -> Mapping[str, Documented]:
    """Read the table of metrics."""
    section = _PAGE.read_text().partition("\n## Metrics\n")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| `baohuang_")]
    found = [_line(*(cell.strip() for cell in row)) for row in rows]
    assert len({one.name for one in found}) == len(found)
    return {one.name: one for one in found}


def _line(name: str, kind: str, labels: str, services: str, says: str) -> Documented:
    return Documented(
        name.strip("`"), kind, tuple(labels.replace("`", "").split()), frozenset(services.split(", ")), says
    )
