"""What is in `deploy/`, read."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

ROOT: Final = Path(__file__).parents[2]
DEPLOY: Final = ROOT / "deploy"
KUBERNETES: Final = DEPLOY / "kubernetes"
Document = Mapping[str, Any]


def compose() -> Document:
    """Return the compose file, its merges done and its variables still in it."""
    read: Document = loaded(DEPLOY / "compose.yaml")
    return read


def loaded(path: Path) -> Any:
    """Return the one document of a file of YAML."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def inside(value: Any) -> Iterator[Any]:
    """Yield a document and everything in it, however deep."""
    yield value
    nested = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    for one in nested:
        yield from inside(one)
