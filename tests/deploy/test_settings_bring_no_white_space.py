"""White space around a value, as a file or `echo` brings it along, is nothing that a setting is about."""

from collections.abc import Iterator
from typing import Final

import pytest
from pydantic_settings import BaseSettings

from baohuang.rpc.configuration import from_environment, variable_of
from baohuang.tracing.settings import TraceSettings
from command_line.dsn import sound_dsn
from deploy.environment import tell_only
from deploy.told import SETTINGS

ALL: Final[tuple[type[BaseSettings], ...]] = (*SETTINGS.values(), TraceSettings)
SOUND: Final = {
    "BAOHUANG_POSTGRES_DSN": "postgresql://login:x@127.0.0.1:1/baohuang",
    "BAOHUANG_NATS_URL": "tls://somebody:x@127.0.0.1:1",
    "BAOHUANG_NATS_CA": "/etc/ca.pem",
    "BAOHUANG_SERVICE_TOKEN": "opaque",
    "BAOHUANG_JWKS": "https://issuer/keys",
    "BAOHUANG_JWT_ISSUER": "issuer",
    "BAOHUANG_JWT_AUDIENCE": "cards",
    "BAOHUANG_TABLE_ADDRESS": "table:1",
    "BAOHUANG_RATING_ADDRESS": "rating:1",
    "BAOHUANG_TABLE_TARGET": "table:1",
    "BAOHUANG_PROBE_LISTEN": "127.0.0.1:1",
    "BAOHUANG_BOTS_KEY": "/etc/key.pem",
    "BAOHUANG_LOG_LEVEL": "ERROR",
    "BAOHUANG_REPLICA": "one",
    "BAOHUANG_REFUSE_SECONDS": "1.5",
    "BAOHUANG_MAX_CONCURRENT_STREAMS": "7",
    "BAOHUANG_SHARE_PORT": "true",
    "OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4317",
    "OTEL_EXPORTER_OTLP_HEADERS": "authorization=x",
    "OTEL_TRACES_SAMPLER": "always_on",
    "OTEL_SERVICE_NAME": "tables",
}


def values() -> Iterator[tuple[type[BaseSettings], str]]:
    """Give each variable above with each service that reads it."""
    for kind in ALL:
        yield from ((kind, one) for name in kind.model_fields if (one := variable_of(kind, name)) in SOUND)


@pytest.fixture(autouse=True)
def _only_these(monkeypatch: pytest.MonkeyPatch) -> None:
    tell_only(monkeypatch, SOUND)


@pytest.mark.parametrize(("kind", "variable"), list(values()), ids=lambda one: getattr(one, "__name__", one))
@pytest.mark.parametrize("around", ["{}\n", "{}\r\n", " {} "])
def test_white_space_around_a_value_is_taken_away(kind: type[BaseSettings], variable: str, around: str) -> None:
    """An issuer with a line break would be nobody's, and every token refused; a file of that name is nowhere."""
    without = from_environment(kind)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(variable, around.format(SOUND[variable]))
        assert from_environment(kind) == without


def test_commands_take_it_away_from_a_dsn() -> None:
    """As the operator's pod has it of its Secret."""
    assert sound_dsn("postgresql://login:x@127.0.0.1:1/baohuang\n") == "postgresql://login:x@127.0.0.1:1/baohuang"


@pytest.mark.parametrize("variable", SOUND)
def test_every_variable_here_is_one(variable: str) -> None:
    """Of some service."""
    assert variable in {one for _, one in values()}
