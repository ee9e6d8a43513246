"""Logs of child processes that do not fill the disk."""

import os
import shutil
from pathlib import Path
from typing import Final

LOG_BYTES: Final = 32 * 1024 * 1024
"""How long a log may grow; as much again is kept of what came before."""


def bound(log: Path, limit: int) -> None:
    """Move what is in a log longer than `limit` bytes to `<log>.1`, in place of what is there.

    The process that writes it need not know: it appends, so it goes on at the beginning. What it writes between copying
    and emptying is lost.
    """
    if log.exists() and log.stat().st_size > limit:
        shutil.copyfile(log, log.with_name(f"{log.name}.1"))
        os.truncate(log, 0)
