"""What a text may hold that others are shown: nothing that a terminal obeys, or that breaks or turns its line.

Refused where it comes in, and written out in words of its own where it is printed: a record may hold it from before.
"""

import re
from typing import Final

_OBEYED: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f"  # control characters (C0, delete, C1)
    "\u2028\u2029"  # separators of lines and paragraphs
    "\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069"  # marks that turn the direction of what follows
    "\ud800-\udfff]"  # halves of surrogate pairs, which no encoding can write
)


def is_plain(text: str) -> bool:
    """Tell whether a text holds nothing but what is shown."""
    return _OBEYED.search(text) is None


def plain(text: str) -> str:
    r"""Return a text with all else written as `\uXXXX`, which inside a string of JSON stands for the same."""
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
