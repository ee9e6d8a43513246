"""What the standard environment variables of OpenTelemetry say of traces, as far as we have a say in it.

The rest of them (OTEL_RESOURCE_ATTRIBUTES, OTEL_EXPORTER_OTLP_HEADERS and _TIMEOUT, OTEL_BSP_…, OTEL_SPAN_…) is read by
OpenTelemetry itself.
"""

from pathlib import Path
from typing import Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from baohuang.tls.files import Tls

_SCHEMES: Final = ("http", "https")
_RATIOS: Final = ("traceidratio", "parentbased_traceidratio")


class TraceSettings(BaseSettings):
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

    @field_validator("all_endpoint", "traces_endpoint")
    @classmethod
    def _is_an_address(cls, endpoint: str | None) -> str | None:
        """Have an address of gRPC, of which a path says nothing."""
        if endpoint is None:
            return None
        parts = urlsplit(endpoint)
        if parts.scheme not in _SCHEMES or not parts.hostname or not parts.port:  # port raises ValueError out of range
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
        return self

    @property
    def endpoint(self) -> str | None:
        """Where traces go; None: nowhere."""
        if self.disabled or self.exporter == "none":
            return None
        return self.traces_endpoint or self.all_endpoint

    def tls(self, ours: Tls | None) -> Tls | None:
        """Return the files for TLS with the collector: its own, else `ours`; None for one that is reached without."""
        if self.endpoint is None or not self.endpoint.startswith("https://"):
            return None
        if self.ca or self.cert:
            return Tls(self.ca, self.cert, self.key)
        return ours or Tls()
