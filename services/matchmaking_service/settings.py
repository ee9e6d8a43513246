"""What the matchmaking service can be told by its environment: `BAOHUANG_MATCHMAKING_LISTEN`, ..."""

from typing import Final, Self

from pydantic import Field, model_validator

from baohuang.database.address import PostgresDsn
from baohuang.rpc.bounds import Days, Seconds
from baohuang.rpc.listening import Address, Listen
from baohuang.rpc.service_token import ServiceToken
from baohuang.rpc.settings import ServerSettings

_DAY_SECONDS: Final = 86_400.0


class MatchmakingSettings(ServerSettings):
    """Settings of one replica of the matchmaking service. Secrets do not show when it is printed."""

    postgres_dsn: PostgresDsn = Field(
        description="the database of tickets, postgresql://user:password@host:port/database"
    )
    table_address: Address = Field(description="the table service, host:port")
    rating_address: Address | None = Field(
        default=None, description="the rating service, host:port; none: everybody counts as a newcomer"
    )
    service_token: ServiceToken | None = Field(
        default=None, description="the token of role service to call them with; one subject for all replicas"
    )
    matchmaking_listen: Listen = Field(
        default="127.0.0.1:0", description="address to serve on, host:port; port 0 takes any free one"
    )
    ticket_lifetime_seconds: Seconds = Field(default=600.0, description="how long a ticket may wait")
    fill_with_bots_after: float = Field(
        default=30.0, gt=0, description="seconds that those who allow bots wait for people; inf: no bots"
    )

    keep_days: Days = Field(
        default=30.0,
        description="days for which closed tickets, their matches and request ids are kept; longer than tickets last, "
        "36500 at most",
    )

    @model_validator(mode="after")
    def _kept_while_open(self) -> Self:
        """Have no request forgotten whose ticket may be open: it could be carried out twice."""
        if self.keep_days * _DAY_SECONDS <= self.ticket_lifetime_seconds:
            raise ValueError("BAOHUANG_KEEP_DAYS has to be more than BAOHUANG_TICKET_LIFETIME_SECONDS")
        return self

    @model_validator(mode="after")
    def _known_to_others(self) -> Self:
        """Without a token the word of this service has to do, which is believed in development only."""
        if self.service_token is None and not self.insecure_dev:
            raise ValueError("BAOHUANG_SERVICE_TOKEN is needed to open tables, unless BAOHUANG_INSECURE_DEV is set")
        return self

    @property
    def keep_seconds(self) -> float:
        """For how long what was done is kept."""
        return self.keep_days * _DAY_SECONDS
