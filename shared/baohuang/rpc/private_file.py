"""Whether a file with a private key is private."""

import os
from typing import Final

ROOT: Final = 0
_OTHERS: Final = 0o077
_OTHERS_THAN_A_READING_GROUP: Final = 0o037


def is_open_to_others(status: os.stat_result, user: int) -> bool:
    """Whether a file can be used by others than its owner and `user`, who is about to read it.

    Root's may be read by a group: so Kubernetes gives a secret to a container that is not root's. PostgreSQL draws the
    same line for its keys.
    """
    shut = _OTHERS_THAN_A_READING_GROUP if status.st_uid == ROOT != user else _OTHERS
    return bool(status.st_mode & shut)
