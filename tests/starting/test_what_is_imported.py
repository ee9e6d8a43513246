"""What a service's process imports, which is most of the time that its start takes."""

import subprocess
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import pytest

from command_line.serving import SERVED

_LOADED: Final = """
import sys
from baohuang.starting import load

load(sys.argv[1])
print(*sorted(sys.modules))
"""
_NOBODYS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "alembic": "databases are brought up to date by `baohuang migrate`",
        "sqlalchemy": "as alembic",
        "psycopg": "as alembic",
        "rich": "a log line is JSON, or plain text; structlog would import it",
        "pygments": "as rich",
        "typer": "that is for commands",
        "baohuang.embedded": "servers are given, not started",
        "opentelemetry.sdk": "only where traces are wanted",
        "opentelemetry.exporter": "only where traces are wanted",
        "prometheus_client": "only where metrics are wanted",
    }
)
_ONLY: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "baohuang.client": frozenset({"bots"}),
        "baohuang.audit": frozenset({"table", "history", "bots"}),
        "baohuang.rules.events": frozenset({"table", "history", "scoring", "bots"}),
        "baohuang.eventlog.codec": frozenset({"table", "history", "scoring", "bots"}),
        "nats": frozenset({"table", "scoring", "rating"}),
        "openskill": frozenset({"rating"}),
    }
)
"""Whose need something is."""


@pytest.mark.parametrize("service", SERVED)
def test_nothing_is_imported_that_a_service_has_no_use_for(service: str) -> None:
    """Each of these modules costs every replica's start from a hundredth to half a second."""
    loaded = _loaded(SERVED[service].module.removesuffix("main") + "serving")
    assert loaded & _NOBODYS.keys() == set()
    assert loaded & _ONLY.keys() == {module for module, services in _ONLY.items() if service in services}


def test_what_was_kept_from_structlog_is_there_for_others() -> None:
    """A command that draws with rich gets it; and cycles are collected again, as before."""
    looked = "import gc, sys; from baohuang.starting import load; load('structlog'); import rich.console as rich"
    shown = "print(sys.modules['structlog'].dev.rich, rich.__name__, gc.isenabled())"
    assert _said("-c", f"{looked}; {shown}") == "None rich.console True"


def test_a_module_that_is_not_there_is_said_as_python_says_it() -> None:
    """And what is kept from structlog comes back all the same."""
    tried = "from baohuang.starting import load\ntry:\n    load('nowhere')\nexcept ModuleNotFoundError as error:\n    "
    assert _said("-c", f"{tried}import gc, rich; print(error, gc.isenabled())") == "No module named 'nowhere' True"


def _loaded(module: str) -> set[str]:
    return set(_said("-c", _LOADED, module).split())


def _said(*arguments: str) -> str:
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout.strip()  # noqa: S603 - our own
