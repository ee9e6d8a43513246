"""What every gRPC server of this system can be told, by environment variables with the prefix `BAOHUANG_`."""

from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class ServerSettings(BaseSettings):
    """Settings of one server; a service's own settings extend them."""

    model_config = SettingsConfigDict(env_prefix="BAOHUANG_", frozen=True)

    insecure_dev: bool = Field(default=False, description="believe each client's own word on who it is; loopback only")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        default="INFO", description="least level that is logged"
    )
    refuse_seconds: float = Field(
        default=0.3, ge=0, description="how long new calls are told to go elsewhere before the server stops listening"
    )
    drain_grace_seconds: float = Field(default=10.0, gt=0, description="how long open calls may go on after SIGTERM")
    max_connection_age_seconds: float = Field(
        default=90.0,
        gt=0,
        description="connections are closed in order at this age, so that clients spread over replicas",
    )
    max_connection_age_grace_seconds: float = Field(
        default=30.0, gt=0, description="how long their calls may go on then"
    )
    min_ping_interval_seconds: float = Field(
        default=9.0,
        gt=0,
        description="clients may ping this often; one less than 10, for pings the network pushed together",
    )
    max_concurrent_streams: int = Field(default=1000, gt=0, description="calls at once on one connection")
    max_request_bytes: int = Field(default=65536, gt=0, description="largest request message")
