"""What the standard environment variables say, and what is wrong with them is told by their names."""

import pytest
from pydantic import ValidationError

from baohuang.tls.files import Tls
from baohuang.tracing.settings import TraceSettings

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        (ENDPOINT, "collector:4317"),
        (ENDPOINT, "http://collector"),
        (ENDPOINT, "http://collector:99999"),
        (ENDPOINT, "http://collector:four"),
        (ENDPOINT, "ftp://collector:4317"),
        (ENDPOINT, "http://collector:4317/v1/traces"),
        (ENDPOINT, "http://user:word@collector:4317"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "nowhere"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
        ("OTEL_TRACES_EXPORTER", "zipkin"),
        ("OTEL_TRACES_SAMPLER", "sometimes"),
        ("OTEL_TRACES_SAMPLER_ARG", "2"),
        ("OTEL_TRACES_SAMPLER_ARG", "half"),
        ("OTEL_TRACES_SAMPLER_ARG", "nan"),
        ("OTEL_SDK_DISABLED", "perhaps"),
        ("OTEL_EXPORTER_OTLP_CLIENT_KEY", "client.key"),
    ],
)
def test_what_is_wrong_is_named(monkeypatch: pytest.MonkeyPatch, variable: str, value: str) -> None:
    """A variable that cannot be used is an error that names it."""
    monkeypatch.setenv(ENDPOINT, "http://collector:4317")
    monkeypatch.setenv(variable, value)
    with pytest.raises(ValidationError, match=variable):
        TraceSettings()


def test_an_argument_without_its_sampler_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ratio that no sampler would look at is not passed over."""
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", "0.5")
    with pytest.raises(ValidationError, match="OTEL_TRACES_SAMPLER_ARG goes with"):
        TraceSettings()


@pytest.mark.parametrize(
    "off",
    [
        {},
        {ENDPOINT: ""},
        {ENDPOINT: "http://collector:4317", "OTEL_SDK_DISABLED": "true"},
        {ENDPOINT: "http://collector:4317", "OTEL_TRACES_EXPORTER": "none"},
    ],
)
def test_off(monkeypatch: pytest.MonkeyPatch, off: dict[str, str]) -> None:
    """Without an endpoint, an empty one too, there are no traces; nor where they are switched off."""
    for variable, value in off.items():
        monkeypatch.setenv(variable, value)
    assert TraceSettings().endpoint is None


def test_the_endpoint_of_traces_goes_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """The endpoint for traces alone is taken where both are set."""
    monkeypatch.setenv(ENDPOINT, "http://all:4317/")
    assert TraceSettings().endpoint == "http://all:4317"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://traces:4317")
    assert TraceSettings().endpoint == "https://traces:4317"


def test_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over https: with the files that are named, else with those for other services, else the system's authorities."""
    ours = Tls()
    monkeypatch.setenv(ENDPOINT, "http://collector:4317")
    assert TraceSettings().tls(ours) is None
    monkeypatch.setenv(ENDPOINT, "https://collector:4317")
    assert TraceSettings().tls(None) == Tls()
    assert TraceSettings().tls(ours) is ours
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", "ca.pem")
    named = TraceSettings().tls(ours)
    assert named is not None
    assert str(named.authorities) == "ca.pem"
