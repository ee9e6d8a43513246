"""What a service's process imports, which is most of the time that its start takes."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import pytest

from command_line.serving import SERVED

_OURS: Final = ("BAOHUANG_", "OTEL_", "PYDANTIC_")
_WRONG: Final = MappingProxyType({"BAOHUANG_LOG_LEVEL": "xyzzy"})
_SERVE: Final = """
import atexit, gc, json, sys
from importlib.abc import MetaPathFinder


class Looking(MetaPathFinder):
    collects = {}

    def find_spec(self, name, path=None, target=None):
        self.collects[name] = gc.isenabled()


def tell():
    loaded = [name for name, module in sys.modules.items() if module is not None]
    collected = [name for name in ("structlog", "grpc") if Looking.collects[name]]
    plugins = sys.modules["pydantic.plugin._loader"]._plugins
    print(json.dumps({"loaded": loaded, "collected": collected, "plugins": plugins, "frozen": gc.get_freeze_count()}))


sys.meta_path.insert(0, Looking())
atexit.register(tell)
from command_line.main import main

main()
"""
"""Does what `baohuang` does, and tells at its end what it imported, and how."""
_NOBODYS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "alembic": "databases are brought up to date by `baohuang migrate`",
        "sqlalchemy": "as alembic",
        "psycopg": "as alembic",
        "rich": "a log line is JSON, or plain text; structlog would import it",
        "pygments": "as rich",
        "baohuang.embedded": "servers are given, not started",
        "opentelemetry.sdk": "only where traces are wanted",
        "opentelemetry.exporter": "only where traces are wanted",
        "prometheus_client": "only where metrics are wanted",
    }
)
_ONLY: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "baohuang.client": frozenset({"bots"}),
        "command_line.development_key": frozenset({"bots"}),
        "baohuang.audit": frozenset({"table", "history", "bots"}),
        "baohuang.rules.events": frozenset({"table", "history", "scoring", "bots"}),
        "baohuang.eventlog.codec": frozenset({"table", "history", "scoring", "bots"}),
        "nats": frozenset({"table", "scoring", "rating"}),
        "openskill": frozenset({"rating"}),
    }
)
"""Whose need something is."""


@pytest.mark.parametrize("service", SERVED)
def test_what_serving_imports_and_how(service: str) -> None:
    """As a pod does it. Each of these modules costs every replica's start from a hundredth to half a second.

    So do cycles that are looked for while all is imported, or later in what it left; and so does looking for plugins.
    """
    told = _served(service)
    loaded = set(told["loaded"])
    assert loaded & _NOBODYS.keys() == set()
    assert loaded & _ONLY.keys() == {module for module, services in _ONLY.items() if service in services}
    assert (told["collected"], told["plugins"]) == ([], None)
    assert told["frozen"] > len(loaded)


def test_what_was_kept_from_structlog_is_there_for_others() -> None:
    """A command that draws with rich gets it; and cycles are collected again, as before."""
    looked = "import gc, sys; from baohuang.starting import load; load('structlog'); import rich.console as rich"
    shown = "print(sys.modules['structlog'].dev.rich, rich.__name__, gc.isenabled())"
    assert _said("-c", f"{looked}; {shown}") == "None rich.console True"


def test_a_module_that_is_not_there_is_said_as_python_says_it() -> None:
    """And what is kept from structlog comes back all the same."""
    tried = "from baohuang.starting import load\ntry:\n    load('nowhere')\nexcept ModuleNotFoundError as error:\n    "
    assert _said("-c", f"{tried}import gc, rich; print(error, gc.isenabled())") == "No module named 'nowhere' True"


def _served(service: str) -> Mapping[str, Any]:
    """Have a service imported, which then ends for a setting that cannot be; give what it tells."""
    environment = {name: text for name, text in os.environ.items() if not name.startswith(_OURS)}
    command = [sys.executable, "-c", _SERVE, "serve", service]
    ended = subprocess.run(  # noqa: S603 - our own
        command, env={**environment, **_WRONG}, capture_output=True, text=True, check=False, timeout=120
    )
    assert ended.returncode == 1, ended.stderr
    assert set(_WRONG) <= set(ended.stderr.replace(":", " ").split()), ended.stderr
    told: Mapping[str, Any] = json.loads(ended.stdout)
    return told


def _said(*arguments: str) -> str:
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout.strip()  # noqa: S603 - our own
