"""Ids that this service makes."""

import secrets
import uuid

from baohuang.rules.state import TableId

_RANDOM_BITS = 74
_VERSION = 0x7
_VARIANT = 0b10


def new_table_id(unix_milliseconds: int) -> TableId:
    """Return a UUID of version 7 (RFC 9562): ids grow with time, so that listings come newest first."""
    random = secrets.randbits(_RANDOM_BITS)
    high = (unix_milliseconds & (1 << 48) - 1) << 80 | _VERSION << 76 | (random >> 62) << 64
    return TableId(str(uuid.UUID(int=high | _VARIANT << 62 | random & (1 << 62) - 1)))
