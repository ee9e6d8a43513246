"""The document's text, and the parts of it that are made: between `<!-- made: NAME -->` and `<!-- end -->`."""

import re
from pathlib import Path
from typing import Final

PATH: Final = Path(__file__).parents[2] / "docs" / "protocol.md"


def text() -> str:
    """Return the document."""
    return PATH.read_text(encoding="utf-8")


def part(name: str, document: str) -> str:
    """Return what stands between the marks of a part. Raises ValueError unless it is there once."""
    found = _pattern(name).findall(document)
    if len(found) != 1:
        raise ValueError(f"the document has {len(found)} parts {name}")
    return str(found[0][1])


def with_part(name: str, content: str, document: str) -> str:
    """Return the document with another content of a part."""
    part(name, document)
    return _pattern(name).sub(lambda found: f"{found[1]}{content}{found[3]}", document)


def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- made: {name} -->\n)(.*?)(<!-- end -->)", re.DOTALL)
