"""What a service that uses NATS can be told, by environment variables with the prefix `BAOHUANG_`."""

from pathlib import Path
from typing import Self

from pydantic import Field, SecretStr, field_validator, model_validator

from baohuang.rpc.settings import ServerSettings
from baohuang.stream.address import TLS_SCHEME, NatsAddress, check_url
from baohuang.tls.files import Tls


class NatsSettings(ServerSettings):
    """Settings of a service on NATS. Secrets do not show when they are printed."""

    nats_url: SecretStr | None = Field(
        default=None,
        description="NATS, as nats://user:password@host:port, or tls:// for TLS; none: no stream, so nothing new is "
        "published, scored or rated",
    )
    nats_ca: Path | None = Field(
        default=None, description="PEM file of the authorities of NATS; none: the system's own, with tls://"
    )
    nats_cert: Path | None = Field(default=None, description="PEM file of the certificate to show to NATS")
    nats_key: Path | None = Field(default=None, description="PEM file of that certificate's key, without a password")
    stream_servers: int = Field(
        default=1, ge=1, le=5, description="how many servers of a NATS cluster keep the stream that this service makes"
    )

    @field_validator("nats_url")
    @classmethod
    def _is_a_url(cls, url: SecretStr | None) -> SecretStr | None:
        """Have a URL of NATS: another would be tried for ever."""
        if url is not None:
            check_url(url.get_secret_value())
        return url

    @model_validator(mode="after")
    def _over_tls_or_not(self) -> Self:
        """Have no files of TLS with a URL that does without."""
        if (self.nats_cert is None) != (self.nats_key is None):
            raise ValueError("BAOHUANG_NATS_CERT and BAOHUANG_NATS_KEY go together")
        url = self.nats_url.get_secret_value() if self.nats_url else TLS_SCHEME
        if (self.nats_ca or self.nats_cert) and not url.startswith(TLS_SCHEME):
            raise ValueError(
                "BAOHUANG_NATS_CA and BAOHUANG_NATS_CERT go with a BAOHUANG_NATS_URL that begins with tls://"
            )
        return self

    @property
    def nats(self) -> NatsAddress | None:
        """Where NATS is, None without one."""
        if self.nats_url is None:
            return None
        files = Tls(self.nats_ca, self.nats_cert, self.nats_key)
        return NatsAddress(self.nats_url.get_secret_value(), None if files == Tls() else files)
