"""Whatever number a setting is given is refused by the variable's name, or can be served with."""

import math
from collections.abc import Iterator
from typing import Any, Final, get_args

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings

from baohuang.rpc.configuration import ConfigurationError, from_environment, variable_of
from baohuang.rpc.server import RpcServer
from baohuang.rpc.settings import ServerSettings
from baohuang.tracing.settings import TraceSettings
from deploy.told import SETTINGS

ALL: Final[tuple[type[BaseSettings], ...]] = (*SETTINGS.values(), TraceSettings)
SOUND: Final = {
    "BAOHUANG_POSTGRES_DSN": "postgresql://127.0.0.1:1/baohuang",
    "BAOHUANG_TABLE_ADDRESS": "127.0.0.1:1",
    "BAOHUANG_TABLE_TARGET": "127.0.0.1:1",
    "BAOHUANG_INSECURE_DEV": "true",
    "OTEL_TRACES_SAMPLER": "traceidratio",
}
NEVER: Final = ("nan", "-1", "-inf", "-1e300", "x", "")
TOO_MUCH: Final = ("inf", "1e300", "99999999999999999999999", "99999999999", "2592000000000")
BOUNDLESS: Final = frozenset({"rate_limit_per_second", "fill_with_bots_after"})
"""Rates and waits that are compared and no more: `inf` is never, or no limit, and their descriptions say so."""
ANY_NUMBER: Final = frozenset({"dev_seed"})
"""Written down and hashed."""


def numbers() -> Iterator[tuple[type[BaseSettings], str]]:
    """Give every setting that is a number, of every service."""
    for kind in ALL:
        for name, field in kind.model_fields.items():
            if {int, float} & {field.annotation, *get_args(field.annotation)}:
                yield kind, name


@pytest.fixture(autouse=True)
def _the_rest_is_sound(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in SOUND.items():
        monkeypatch.setenv(variable, value)


def complaint(kind: type[BaseSettings], variable: str, value: str) -> str:
    """Return what is wrong with a value in the environment; nothing if nothing is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(variable, value)
        try:
            from_environment(kind)
        except ConfigurationError as error:
            return str(error)
    return ""


@pytest.mark.parametrize(("kind", "name"), list(numbers()), ids=lambda one: getattr(one, "__name__", one))
def test_a_number_that_cannot_be_used_is_refused_by_name(kind: type[BaseSettings], name: str) -> None:
    """What is no number or less than nothing, and what no timer, no message and no drain can have."""
    variable = variable_of(kind, name)
    takes_empty_for_none = bool(kind.model_config.get("env_ignore_empty"))
    for value in NEVER:
        assert complaint(kind, variable, value).startswith(f"{variable}: ") or (value == "" and takes_empty_for_none)
    for value in TOO_MUCH:
        if name in BOUNDLESS:
            assert not complaint(kind, variable, value)
        elif name not in ANY_NUMBER or value in {"inf", "1e300"}:
            assert complaint(kind, variable, value).startswith(f"{variable}: "), value


def test_what_has_no_bound_says_so() -> None:
    """Whoever reads the page of settings is told what `inf` means there; nothing else takes it."""
    said = {name for kind, name in numbers() if "inf: " in str(kind.model_fields[name].description)}
    assert said == BOUNDLESS
    assert {name for _, name in numbers()} > ANY_NUMBER


def extreme(field: FieldInfo, bound: str) -> Any:
    """Return the most or the least that a setting may be, by its bound `le` or `ge`; None if it has none such."""
    return next((getattr(one, bound) for one in field.metadata if hasattr(one, bound)), None)


@pytest.mark.parametrize("bound", ["ge", "le"])
async def test_a_server_serves_with_the_extreme_of_everything(bound: str) -> None:
    """The most, and the least, of all settings at once: it answers, and ends when it is told to."""
    fields = ServerSettings.model_fields.items()
    told = {name: value for name, field in fields if (value := extreme(field, bound)) is not None}
    assert len(told) > 4
    # Not the pause of a minute, which is what it says; and a connection has to live for a call.
    told |= {"refuse_seconds": 0.0} if bound == "le" else {"max_connection_age_seconds": 1.0}
    settings = ServerSettings.model_validate({"insecure_dev": True, **told, "rate_limit_per_second": math.inf})
    server = RpcServer(settings, "127.0.0.1:0")
    port = await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        answer = await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=20)
    assert answer.status == health_pb2.HealthCheckResponse.SERVING
    await server.drain()
