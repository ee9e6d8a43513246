"""What every gRPC server of this system can be told, by environment variables with the prefix `BAOHUANG_`."""

from pathlib import Path
from typing import Final, Literal, Self

from pydantic import Field, model_validator
from pydantic_settings import SettingsConfigDict

from baohuang.rpc.bounds import Count, Pause, Seconds
from baohuang.rpc.configuration import EnvironmentSettings
from baohuang.rpc.listening import OptionalListen
from baohuang.rpc.rate_limit import RateLimit
from baohuang.tls.files import Tls

_LONGEST_STREAM: Final = 1.2
"""Of a connection's age: what a stream lasts at most, which may have begun with the connection's last moment."""
_MARGIN_SECONDS: Final = 10.0
DEFAULT_RATE_LIMIT: Final = RateLimit(per_second=100.0, burst=200)
"""Far from a person's five moves a second, and from a bot that plays its hands without a pause at one table."""


class ServerSettings(EnvironmentSettings):
    """Settings of one server; a service's own settings extend them."""

    model_config = SettingsConfigDict(env_prefix="BAOHUANG_", frozen=True)

    insecure_dev: bool = Field(default=False, description="believe each client's own word on who it is; loopback only")
    jwks: str | None = Field(
        default=None,
        min_length=1,
        description="path or http(s) URL of the JWK set that tokens are checked with; none: no tokens",
    )
    jwt_issuer: str | None = Field(
        default=None, min_length=1, description="the issuer that tokens must name; none: any who has a key of the set"
    )
    jwt_audience: str = Field(default="baohuang", min_length=1, description="the audience that tokens must name")
    tls_cert: Path | None = Field(
        default=None,
        description="PEM file of the server's certificate and those up to its authority; none: no TLS. It is shown to "
        "the services that this one calls, too",
    )
    tls_key: Path | None = Field(default=None, description="PEM file of the certificate's key, without a password")
    tls_client_ca: Path | None = Field(
        default=None, description="PEM file of the authorities that every client needs a certificate of; none: no mTLS"
    )
    tls_ca: Path | None = Field(
        default=None,
        description="PEM file of the authorities of the services that this one calls; none: it calls them without TLS",
    )
    probe_listen: OptionalListen | None = Field(
        default=None,
        description="address, host:port, that tells the health alone, without TLS: for probes that know none",
    )
    metrics_listen: OptionalListen | None = Field(
        default=None, description="address, host:port, to tell Prometheus its metrics on, at /metrics; none: no metrics"
    )
    rate_limit_per_second: float = Field(
        default=DEFAULT_RATE_LIMIT.per_second,
        ge=0.001,
        description="calls and new streams a second of one player on one replica; inf: no limit",
    )
    rate_limit_burst: Count = Field(default=DEFAULT_RATE_LIMIT.burst, description="how many of them may come at once")
    share_port: bool = Field(
        default=False,
        description="share the port with other replicas on this machine (SO_REUSEPORT): the kernel spreads connections",
    )
    replica: str = Field(default="", description="a name for this replica in its log lines and connections; none: none")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        default="INFO", description="least level that is logged"
    )
    refuse_seconds: Pause = Field(
        default=0.3,
        description="how long new calls are told to go elsewhere before the server stops listening; 60 at most",
    )
    drain_grace_seconds: Seconds = Field(default=10.0, description="how long open calls may go on after SIGTERM")
    max_connection_age_seconds: Seconds = Field(
        default=90.0,
        description="connections are closed in order at this age, so that clients spread over replicas",
    )
    max_connection_age_grace_seconds: Seconds | None = Field(
        default=None,
        description="how long their calls may go on then; none: for longer than a stream lasts, which ends itself",
    )
    min_ping_interval_seconds: Seconds = Field(
        default=9.0,
        description="clients may ping this often; one less than 10, for pings the network pushed together",
    )
    max_concurrent_streams: Count = Field(default=1000, description="calls at once on one connection")
    max_streams_per_player: Count = Field(
        default=100,
        description="open streams of one player on one replica, the watches of a Play stream among them",
    )
    max_request_bytes: Count = Field(default=65536, description="largest request message")

    @model_validator(mode="after")
    def _whole_certificate(self) -> Self:
        """Have the key of a certificate, and one's own where clients are asked for theirs."""
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ValueError("BAOHUANG_TLS_CERT and BAOHUANG_TLS_KEY go together")
        if self.tls_client_ca is not None and self.tls_cert is None:
            raise ValueError("BAOHUANG_TLS_CLIENT_CA needs BAOHUANG_TLS_CERT")
        return self

    @property
    def server_tls(self) -> Tls | None:
        """What this server shows and asks for; None: no TLS."""
        return None if self.tls_cert is None else Tls(self.tls_client_ca, self.tls_cert, self.tls_key)

    @property
    def client_tls(self) -> Tls | None:
        """What is shown to the services that this one calls, and asked of them; None: no TLS."""
        return None if self.tls_ca is None else Tls(self.tls_ca, self.tls_cert, self.tls_key)

    @property
    def connection_grace_seconds(self) -> float:
        """How long calls of a connection may go on that has reached its age."""
        if self.max_connection_age_grace_seconds is not None:
            return self.max_connection_age_grace_seconds
        return self.max_connection_age_seconds * _LONGEST_STREAM + _MARGIN_SECONDS
