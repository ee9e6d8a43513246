"""The environment that settings are read from, in tests of them."""

import os
from collections.abc import Mapping

import pytest


def tell_only(monkeypatch: pytest.MonkeyPatch, variables: Mapping[str, str]) -> None:
    """Have these variables, and none else that a service reads."""
    for variable in os.environ:
        if variable.startswith(("BAOHUANG_", "OTEL_")):
            monkeypatch.delenv(variable)
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
