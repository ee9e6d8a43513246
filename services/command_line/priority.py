"""Giving way: a command that takes long leaves the processors to play, which is not to wait for it."""

import os
from typing import Final

import typer

OWN_PROCESS: Final = object()
"""What the context of a command holds if the process is its own, which no other code goes on in."""
_NICENESS: Final = 10


def give_way(context: typer.Context) -> None:
    """Lower this process's priority for good, if it is the command's own."""
    if context.obj is OWN_PROCESS:
        os.nice(max(0, _NICENESS - os.nice(0)))
