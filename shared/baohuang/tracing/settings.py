"""What the standard environment variables of OpenTelemetry say of traces, as far as we have a say in it.

The rest of them (OTEL_RESOURCE_ATTRIBUTES, OTEL_SPAN_…) is read by OpenTelemetry itself. It reads headers as well,
which are looked at here first: it would repeat in the log what is wrong with them.
"""

import re
from pathlib import Path
from typing import Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import SettingsConfigDict

from baohuang.rpc.bounds import Count, Milliseconds, Seconds
from baohuang.rpc.configuration import EnvironmentSettings
from baohuang.tls.files import Tls

_SCHEMES: Final = ("http", "https")
_RATIOS: Final = ("traceidratio", "parentbased_traceidratio")


_HEADER: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+[ \t]*=[ \t]*[\x20!#-+\--:<-\[\]-~]*")
"""A name and a value, as OpenTelemetry takes them; what it does not take it would repeat in its log."""


class TraceSettings(EnvironmentSettings):
    """Where traces go, and which. Without an endpoint nowhere."""

    model_config = SettingsConfigDict(frozen=True, env_ignore_empty=True, populate_by_name=True)

    all_endpoint: str | None = Field(
        default=None,
        validation_alias="OTEL_EXPORTER_OTLP_ENDPOINT",
        description="the collector of OTLP over gRPC, as http://host:4317, or https:// for TLS; none: no traces",
    )
    traces_endpoint: str | None = Field(
        default=None,
        validation_alias="OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        description="the same for traces alone; it goes before",
    )
    disabled: bool = Field(default=False, validation_alias="OTEL_SDK_DISABLED", description="true: no traces")
    exporter: Literal["otlp", "none"] = Field(
        default="otlp", validation_alias="OTEL_TRACES_EXPORTER", description="none: no traces"
    )
    protocol: Literal["grpc"] = Field(
        default="grpc", validation_alias="OTEL_EXPORTER_OTLP_PROTOCOL", description="what the collector is spoken to in"
    )
    service_name: str | None = Field(
        default=None,
        validation_alias="OTEL_SERVICE_NAME",
        description="what this process is called in traces; none: baohuang- and the service",
    )
    sampler: Literal[
        "always_on",
        "always_off",
        "traceidratio",
        "parentbased_always_on",
        "parentbased_always_off",
        "parentbased_traceidratio",
    ] = Field(
        default="parentbased_always_on",
        validation_alias="OTEL_TRACES_SAMPLER",
        description="which traces are told; those that begin with parentbased do as the caller does, if he has a trace",
    )
    ratio: float | None = Field(
        default=None,
        ge=0,
        le=1,
        validation_alias="OTEL_TRACES_SAMPLER_ARG",
        description="with a sampler by ratio: the share of traces that are told, 0 to 1",
    )
    ca: Path | None = Field(
        default=None,
        validation_alias="OTEL_EXPORTER_OTLP_CERTIFICATE",
        description="PEM file of the authorities of the collector; none: those of BAOHUANG_TLS_CA, else the system's",
    )
    cert: Path | None = Field(
        default=None,
        validation_alias="OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE",
        description="PEM file of the certificate to show to the collector; none: that of BAOHUANG_TLS_CERT, if it is "
        "reached by BAOHUANG_TLS_CA",
    )
    key: Path | None = Field(
        default=None,
        validation_alias="OTEL_EXPORTER_OTLP_CLIENT_KEY",
        description="PEM file of that certificate's key, without a password",
    )

    all_headers: SecretStr | None = Field(
        default=None,
        validation_alias="OTEL_EXPORTER_OTLP_HEADERS",
        description="what the collector is sent with each call: name=value, several with commas between them",
    )
    traces_headers: SecretStr | None = Field(
        default=None,
        validation_alias="OTEL_EXPORTER_OTLP_TRACES_HEADERS",
        description="the same for traces alone; it goes before",
    )
    all_timeout: Seconds = Field(
        default=10.0,
        validation_alias="OTEL_EXPORTER_OTLP_TIMEOUT",
        description="seconds that the collector has for an answer",
    )
    traces_timeout: Seconds | None = Field(
        default=None,
        validation_alias="OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
        description="the same for traces alone; it goes before",
    )
    delay_ms: Milliseconds = Field(
        default=5000,
        validation_alias="OTEL_BSP_SCHEDULE_DELAY",
        description="milliseconds between two sendings",
    )
    queue: Count = Field(
        default=2048,
        validation_alias="OTEL_BSP_MAX_QUEUE_SIZE",
        description="how many spans wait at most; the oldest are dropped",
    )
    batch: Count = Field(
        default=512,
        validation_alias="OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
        description="how many spans are sent at a time, no more than wait",
    )
    export_ms: Milliseconds = Field(
        default=30_000,
        validation_alias="OTEL_BSP_EXPORT_TIMEOUT",
        description="milliseconds that a sending may take",
    )

    @field_validator("all_headers", "traces_headers")
    @classmethod
    def _are_headers(cls, headers: SecretStr | None) -> SecretStr | None:
        """Have names and values, since OpenTelemetry would put what is none in the log."""
        listed = headers.get_secret_value().split(",") if headers else []
        if any(one.strip() and not _HEADER.fullmatch(one.strip()) for one in listed):
            raise ValueError("must be name=value, several with commas between them, special characters percent-encoded")
        return headers

    @field_validator("all_endpoint", "traces_endpoint")
    @classmethod
    def _is_an_address(cls, endpoint: str | None) -> str | None:
        """Have an address of gRPC, of which a path says nothing."""
        if endpoint is None:
            return None
        try:
            parts = urlsplit(endpoint)
            whole = parts.scheme in _SCHEMES and parts.hostname and parts.port
        except ValueError:  # whose text repeats the part that is no port
            whole = None
        if not whole:
            raise ValueError("must be http://host:port, or https://host:port")
        if parts.path not in ("", "/") or parts.query or parts.fragment or parts.username is not None:
            raise ValueError("must be a scheme, a host and a port, and no more: OTLP over gRPC has no paths")
        return f"{parts.scheme}://{parts.netloc}"

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.cert is None) != (self.key is None):
            raise ValueError("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY go together")
        if self.ratio is not None and self.sampler not in _RATIOS:
            raise ValueError(f"OTEL_TRACES_SAMPLER_ARG goes with OTEL_TRACES_SAMPLER {' or '.join(_RATIOS)}")
        if self.batch > self.queue:
            raise ValueError("OTEL_BSP_MAX_EXPORT_BATCH_SIZE must be no more than OTEL_BSP_MAX_QUEUE_SIZE")
        return self

    @property
    def endpoint(self) -> str | None:
        """Where traces go; None: nowhere."""
        if self.disabled or self.exporter == "none":
            return None
        return self.traces_endpoint or self.all_endpoint

    @property
    def timeout_seconds(self) -> float:
        """How long the collector has for an answer."""
        return self.traces_timeout or self.all_timeout

    def tls(self, ours: Tls | None) -> Tls | None:
        """Return the files for TLS with the collector: its own, else `ours`; None for one that is reached without."""
        if self.endpoint is None or not self.endpoint.startswith("https://"):
            return None
        if self.ca or self.cert:
            return Tls(self.ca, self.cert, self.key)
        return ours or Tls()
