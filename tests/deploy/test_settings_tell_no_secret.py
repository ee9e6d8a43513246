"""What is wrong with a setting is told by its variable's name; no value is repeated, its own or another's."""

import asyncio
import itertools
import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from typing import Final

import pytest
from pydantic_settings import BaseSettings
from typer.testing import CliRunner

from baohuang.rpc.configuration import ConfigurationError, from_environment, variable_of
from baohuang.tracing.settings import TraceSettings
from command_line.main import app
from deploy.environment import tell_only
from deploy.told import SETTINGS

MARKER: Final = "geheim999"
SOUND: Final[Mapping[str, str]] = {
    "BAOHUANG_POSTGRES_DSN": f"postgresql://login:{MARKER}@127.0.0.1:1/baohuang",
    "BAOHUANG_NATS_URL": f"nats://somebody:{MARKER}@127.0.0.1:1",
    "BAOHUANG_SERVICE_TOKEN": MARKER,
    "BAOHUANG_JWKS": f"https://{MARKER}/keys",
    "BAOHUANG_JWT_ISSUER": MARKER,
    "BAOHUANG_TABLE_ADDRESS": f"{MARKER}:1",
    "BAOHUANG_TABLE_TARGET": f"{MARKER}:1",
    "BAOHUANG_BOTS_KEY": MARKER,
    "OTEL_EXPORTER_OTLP_HEADERS": f"authorization={MARKER}",
    "OTEL_RESOURCE_ATTRIBUTES": f"word={MARKER}",
}
"""Variables that are as they should be, with a secret wherever one may be."""
WRONG: Final = (
    "",
    "-1",
    "nan",
    MARKER,
    f" broken {MARKER}",
    f"http://user:{MARKER}@127.0.0.1:4317",
    f"mysql://user:{MARKER}@127.0.0.1/baohuang",
    f"nats://user:{MARKER}/x@127.0.0.1:4222",
    f"nats://user:{MARKER}#x@127.0.0.1:4222",
    f"postgresql://login:{MARKER}/x@127.0.0.1/baohuang",
    f"postgresql://login:{MARKER}#x@127.0.0.1/baohuang",
    f"postgresql://login:{MARKER}?x@127.0.0.1/baohuang",
    f"postgresql://login:1/{MARKER}@127.0.0.1/baohuang",
    f"postgresql://login:x@[{MARKER}/baohuang",
    f"postgresql://login:x@127.0.0.1/baohuang?sslmode={MARKER}",
    f"postgresql://login:x@127.0.0.1/baohuang?{MARKER}",
    f"127.0.0.1:{MARKER}",
    f"http://127.0.0.1:{MARKER}",
    f"{MARKER}\n{MARKER}",
    f"user:{MARKER}@table:50051",
    MARKER + "/table:50051",
)
ALL: Final[tuple[type[BaseSettings], ...]] = (*SETTINGS.values(), TraceSettings)


@pytest.fixture(autouse=True)
def _only_these(monkeypatch: pytest.MonkeyPatch) -> None:
    tell_only(monkeypatch, SOUND)


def broken(settings_class: type[BaseSettings]) -> Iterator[Mapping[str, str | None]]:
    """Give environments in which one variable is wrong or missing; each that belongs to another is, too."""
    variables = [variable_of(settings_class, name) for name in settings_class.model_fields]
    yield from ({variable: wrong} for variable, wrong in itertools.product(variables, (*WRONG, None)))


def complaint(settings_class: type[BaseSettings]) -> str:
    """Return what is wrong with the environment, with all that a traceback would show; nothing if nothing is."""
    try:
        from_environment(settings_class)
    except ConfigurationError as error:
        return "".join(traceback.format_exception_only(error)) + repr(error.__cause__ or "")
    return ""


@pytest.mark.parametrize("settings_class", ALL)
def test_no_error_repeats_a_value(settings_class: type[BaseSettings]) -> None:
    """Whatever is wrong, each error names a variable and has no value in it; every variable of numbers has its own."""
    from_environment(settings_class)
    named = ""
    for environment in broken(settings_class):
        with pytest.MonkeyPatch.context() as patch:
            for variable, value in environment.items():
                if value is None:
                    patch.delenv(variable, raising=False)
                else:
                    patch.setenv(variable, value)
            said = complaint(settings_class)
        assert MARKER not in said, environment
        assert not said or any(variable in said for variable in environment), (environment, said)
        named += said
    for name, field in settings_class.model_fields.items():
        if field.annotation in (int, float, bool) or field.is_required():
            assert variable_of(settings_class, name) in named


DSN: Final = "BAOHUANG_POSTGRES_DSN"


@pytest.mark.parametrize(
    ("service", "changed", "said"),
    [
        ("scoring", {DSN: None}, "BAOHUANG_POSTGRES_DSN: is not set"),
        ("history", {"BAOHUANG_TABLE_TARGET": None}, "BAOHUANG_TABLE_TARGET: is not set"),
        ("matchmaking", {"BAOHUANG_TLS_KEY": "/x"}, "BAOHUANG_TLS_CERT and BAOHUANG_TLS_KEY go together"),
        ("table", {DSN: f"postgresql://login:{MARKER}#x@db/b"}, f"{DSN}: must be postgresql://"),
        ("table", {DSN: f"mysql://login:{MARKER}@db/b"}, f"{DSN}: must begin with postgresql://"),
        ("table", {DSN: f"postgresql://login:{MARKER}@db/b?sslmode=wrong"}, f"{DSN}: its sslmode must be one of"),
        ("table", {}, "no connection to PostgreSQL at 127.0.0.1:1 (BAOHUANG_POSTGRES_DSN): "),
        ("table", {"BAOHUANG_NATS_URL": f"http://u:{MARKER}@127.0.0.1:1"}, "BAOHUANG_NATS_URL: must begin with nats"),
        (
            "bots",
            {"BAOHUANG_TABLE_ADDRESS": f"http://user:{MARKER}@table:1"},
            "BAOHUANG_TABLE_ADDRESS: must be host:port",
        ),
        ("matchmaking", {"BAOHUANG_RATING_ADDRESS": ""}, "BAOHUANG_RATING_ADDRESS: must be host:port"),
        ("matchmaking", {"BAOHUANG_SERVICE_TOKEN": f"{MARKER}\nx"}, "BAOHUANG_SERVICE_TOKEN: holds a character"),
        ("history", {"BAOHUANG_TABLE_TARGET": "table"}, "BAOHUANG_TABLE_TARGET: must be host:port"),
        ("table", {"BAOHUANG_MAX_CONNECTION_AGE_SECONDS": "2592000"}, "input should be less than or equal to 86400"),
        ("table", {"BAOHUANG_JWKS": ""}, "BAOHUANG_JWKS: string should have at least 1 character"),
        ("table", {"BAOHUANG_TABLE_LISTEN": "xx"}, "BAOHUANG_TABLE_LISTEN: must be host:port"),
        ("rating", {"OTEL_EXPORTER_OTLP_HEADERS": f"broken {MARKER}"}, "OTEL_EXPORTER_OTLP_HEADERS: must be name="),
        ("rating", {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://u:{MARKER}@h:1"}, "OTEL_EXPORTER_OTLP_ENDPOINT: must be"),
        ("rating", {"OTEL_EXPORTER_OTLP_TIMEOUT": "abc"}, "OTEL_EXPORTER_OTLP_TIMEOUT: input should be a valid number"),
        ("bots", {"OTEL_BSP_SCHEDULE_DELAY": "-5"}, "OTEL_BSP_SCHEDULE_DELAY: input should be greater than 0"),
        ("bots", {"OTEL_BSP_SCHEDULE_DELAY": "abc"}, "OTEL_BSP_SCHEDULE_DELAY: input should be a valid integer"),
    ],
)
async def test_a_service_says_so_in_one_line(service: str, changed: Mapping[str, str | None], said: str) -> None:
    """The process ends with 1 and one line, without a value of the environment."""
    jwks = {"BAOHUANG_JWKS": os.devnull} if not changed else {}
    environment = os.environ | jwks | {name: value for name, value in changed.items() if value is not None}
    for name in (name for name, value in changed.items() if value is None):
        del environment[name]
    arguments = ("-m", "command_line", "serve", service)
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, env=environment, stdout=pipe, stderr=pipe
    )
    output, errors = (text.decode() for text in await process.communicate())
    assert (process.returncode, output, errors.count("\n")) == (1, "", 1), errors
    assert said in errors
    assert MARKER not in errors


@pytest.mark.parametrize("command", ["migrate", "verify", "rebuild-stream", "reconcile"])
def test_a_command_repeats_no_dsn(command: str) -> None:
    """What is wrong with it is told, at the option that it is for."""
    for dsn in (one for one in WRONG if one.startswith(("mysql", "postgresql"))):
        ended = CliRunner().invoke(app, [command], env={DSN: dsn})
        assert ended.exit_code == 2
        assert "postgres" in ended.output
        assert MARKER not in ended.output
