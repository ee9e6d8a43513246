"""What the rating service can be told by its environment: `BAOHUANG_RATING_LISTEN`, `BAOHUANG_POSTGRES_DSN`, ..."""

from pydantic import Field

from baohuang.database.address import PostgresDsn
from baohuang.rpc.listening import Listen
from baohuang.stream.settings import NatsSettings


class RatingSettings(NatsSettings):
    """Settings of one replica of the rating service. Secrets do not show when it is printed."""

    postgres_dsn: PostgresDsn = Field(description="the database of ratings")
    rating_listen: Listen = Field(
        default="127.0.0.1:0", description="address to serve on, host:port; port 0 takes any free one"
    )
