"""What the bots of `baohuang play` are called."""

import re
import secrets
from collections.abc import Sequence
from typing import Final

from baohuang.rules.state import PlayerId
from command_line.demo.stage import PLAYERS

BOTS: Final = PLAYERS[1:]
_SUFFIX_BYTES: Final = 2
_BOT: Final = re.compile(f"({'|'.join(BOTS)})(?P<suffix>[0-9a-f]{{{2 * _SUFFIX_BYTES}}})?")


def unused_names() -> Sequence[PlayerId]:
    """Return names that nobody else has, for a service that others use too (FINE-6)."""
    return [PlayerId(f"{name}{secrets.token_hex(_SUFFIX_BYTES)}") for name in BOTS]


def is_bot(name: str) -> bool:
    """Tell whether the name is one for bots, of a service of our own or of one that others use too."""
    return _BOT.fullmatch(name) is not None
