"""Which files may hold a private key."""

import os

import pytest

from baohuang.rpc.private_file import ROOT, is_open_to_others

_US = 65532


def status(mode: int, owner: int) -> os.stat_result:
    return os.stat_result((0o100000 | mode, 0, 0, 1, owner, _US, 0, 0, 0, 0))


@pytest.mark.parametrize(
    ("mode", "owner", "user", "is_open"),
    [
        (0o600, _US, _US, False),
        (0o440, ROOT, _US, False),  # a mounted Secret with fsGroup
        (0o640, ROOT, _US, False),
        (0o640, _US, _US, True),
        (0o640, ROOT, ROOT, True),
        (0o660, ROOT, _US, True),
        (0o444, ROOT, _US, True),
    ],
)
def test_only_a_group_of_roots_file_may_read_it(mode: int, owner: int, user: int, *, is_open: bool) -> None:
    """Others may never use it, a group only read what is root's, and nobody but its owner write it."""
    assert is_open_to_others(status(mode, owner), user) is is_open
