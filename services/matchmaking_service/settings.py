"""What the matchmaking service can be told by its environment: `BAOHUANG_MATCHMAKING_LISTEN`, ..."""

from typing import Self

from pydantic import Field, SecretStr, model_validator

from baohuang.rpc.settings import ServerSettings


class MatchmakingSettings(ServerSettings):
    """Settings of one replica of the matchmaking service. Secrets do not show when it is printed."""

    postgres_dsn: SecretStr = Field(
        description="the database of tickets, postgresql://user:password@host:port/database"
    )
    table_address: str = Field(description="the table service, host:port")
    rating_address: str | None = Field(
        default=None, description="the rating service, host:port; none: everybody counts as a newcomer"
    )
    service_token: SecretStr | None = Field(
        default=None, description="the token of role service to call them with; one subject for all replicas"
    )
    matchmaking_listen: str = Field(
        default="127.0.0.1:0", description="address to serve on, host:port; port 0 takes any free one"
    )
    ticket_lifetime_seconds: float = Field(default=600.0, gt=0, description="how long a ticket may wait")
    fill_with_bots_after: float = Field(
        default=30.0, gt=0, description="seconds that those who allow bots wait for people; inf: no bots"
    )

    @model_validator(mode="after")
    def _known_to_others(self) -> Self:
        """Without a token the word of this service has to do, which is believed in development only."""
        if self.service_token is None and not self.insecure_dev:
            raise ValueError("service_token is needed to open tables, unless insecure_dev is set")
        return self
