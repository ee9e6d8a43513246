"""The start of a process: what it is for is imported without what only costs time, a third of the whole.

Nobody needs it who uses this package as a library.
"""

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Final

_NO_PLUGINS: Final = ("PYDANTIC_DISABLE_PLUGINS", "__all__")
"""Pydantic reads the metadata of every installed package in search of plugins, of which we have none."""


def load(module: str) -> ModuleType:
    """Import a module by its name, and with it what it needs. Raises what its import does."""
    os.environ.setdefault(*_NO_PLUGINS)
    with _uncollected():
        _import_structlog()
        return import_module(module)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Look for no cycles meanwhile: classes and functions by the ten thousand come to stay."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def _import_structlog() -> None:
    """Import it as if rich were not installed, which it draws tracebacks with: ours have no drawn ones.

    See `baohuang.rpc.log`. What imports rich for itself, later, gets it.
    """
    with _hidden("rich"):
        import_module("structlog")


@contextmanager
def _hidden(package: str) -> Iterator[None]:
    """Have an import of the package fail as if there was none, unless there is one already."""
    if package in sys.modules:
        yield
        return
    sys.modules[package] = None  # type: ignore[assignment] # what Python takes for "there is none"
    try:
        yield
    finally:
        del sys.modules[package]
