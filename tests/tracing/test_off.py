"""Without an endpoint there is nothing of traces: no SDK, no wrapper around a method, no span."""

import subprocess
import sys
from pathlib import Path

import opentelemetry.environment_variables as api
import opentelemetry.sdk.environment_variables as sdk

from baohuang.tracing import spans

_SERVICE = """
import asyncio, sys
from baohuang.rpc.process import run
from baohuang.rpc.server import RpcServer
from baohuang.rpc.settings import ServerSettings
from baohuang.tracing import spans


async def serve(settings, stop):
    server = RpcServer(settings, "127.0.0.1:0")
    await server.start()
    await server.drain()
    print(spans.wanted(), any(name.startswith("opentelemetry.sdk") for name in sys.modules))


run("a service", ServerSettings, serve)
"""


def _run(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    paths = {"PYTHONPATH": ":".join(sys.path), "BAOHUANG_INSECURE_DEV": "true", "BAOHUANG_REFUSE_SECONDS": "0"}
    command = [sys.executable, "-c", _SERVICE]
    return subprocess.run(  # noqa: S603 - our own module
        command, env=paths | environment, capture_output=True, text=True, check=False, timeout=60
    )


def test_a_service_without_an_endpoint_has_no_traces() -> None:
    """It begins none, and has not even imported what sends them; with one it does both."""
    assert _run({}).stdout == "False False\n"
    assert _run({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}).stdout == "True True\n"


def test_a_variable_that_is_empty_is_as_not_given() -> None:
    """Whichever of OpenTelemetry's it is: a service starts, and nothing is complained of.

    But those of Python's library alone, which choose parts of it while it is imported.
    """
    named = [text for module in (api, sdk) for name, text in vars(module).items() if name.startswith("OTEL_")]
    named = [name for name in named if not name.startswith("OTEL_PYTHON_")]
    assert "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT" in named
    started = _run(dict.fromkeys(named, "") | {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"})
    assert (started.returncode, started.stdout) == (0, "True True\n")
    assert "OTEL_" not in started.stderr
    assert "Traceback" not in started.stderr


def test_an_endpoint_that_is_none_ends_a_service_at_its_start() -> None:
    """With exit code 1 and the variable's name; a file that cannot be read by its own."""
    ended = _run({"OTEL_EXPORTER_OTLP_ENDPOINT": "collector"})
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "OTEL_EXPORTER_OTLP_ENDPOINT" in ended.stderr
    assert "Traceback" not in ended.stderr
    files = {"OTEL_EXPORTER_OTLP_CERTIFICATE": str(Path("/nowhere/ca.pem"))}
    ended = _run({"OTEL_EXPORTER_OTLP_ENDPOINT": "https://127.0.0.1:9", **files})
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "cannot read /nowhere/ca.pem" in ended.stderr


def test_outside_of_a_trace_a_step_makes_nothing() -> None:
    """The same object stands for every step that is not traced."""
    assert spans.sampled() is None
    assert spans.step("decide") is spans.step("append")
    assert spans.joint("flush", [], spans.COMMANDS, 100) is spans.step("append")
