"""What the table service can be told by its environment: `BAOHUANG_TABLE_LISTEN`, `BAOHUANG_POSTGRES_DSN`, ..."""

from typing import Self

from pydantic import Field, model_validator

from baohuang.database.address import PostgresDsn
from baohuang.rpc.listening import Listen
from baohuang.stream.settings import NatsSettings


class TableSettings(NatsSettings):
    """Settings of one replica of the table service. Secrets do not show when it is printed."""

    postgres_dsn: PostgresDsn = Field(description="the event log, as postgresql://user:password@host:port/database")
    table_listen: Listen = Field(
        default="127.0.0.1:0", description="address to serve on, host:port; port 0 takes any free one"
    )
    dev_seed: int | None = Field(
        default=None, ge=0, description="shuffle from this seed, for development: the same deals again"
    )

    @model_validator(mode="after")
    def _seed_only_in_development(self) -> Self:
        """Known seeds are known cards, so they go with development identities only."""
        if self.dev_seed is not None and not self.insecure_dev:
            raise ValueError("BAOHUANG_DEV_SEED makes every hand known beforehand; it needs BAOHUANG_INSECURE_DEV")
        return self
