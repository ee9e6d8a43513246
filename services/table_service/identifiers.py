"""Ids that this service makes."""

import secrets
import uuid
from datetime import datetime
from typing import NewType

from baohuang.rules.state import TableId

WatchId = NewType("WatchId", str)
"""The id of one watcher's stream of one table."""

_MILLISECONDS = 1000
_RANDOM_BITS = 74
_VERSION = 0x7
_VARIANT = 0b10


def new_table_id(now: datetime) -> TableId:
    """Return a fresh id: ids grow with time, so that listings come newest first."""
    return TableId(_uuid7(now))


def new_watch_id(now: datetime) -> WatchId:
    """Return a fresh id: of a player's streams the newest has the greatest."""
    return WatchId(_uuid7(now))


def _uuid7(now: datetime) -> str:
    """Return a UUID of version 7 (RFC 9562)."""
    unix_milliseconds = round(now.timestamp() * _MILLISECONDS)
    random = secrets.randbits(_RANDOM_BITS)
    high = (unix_milliseconds & (1 << 48) - 1) << 80 | _VERSION << 76 | (random >> 62) << 64
    return str(uuid.UUID(int=high | _VARIANT << 62 | random & (1 << 62) - 1))
