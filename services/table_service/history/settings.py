"""What the history service, served alone, can be told by its environment: `BAOHUANG_POSTGRES_DSN`, ..."""

from pydantic import Field

from baohuang.database.address import PostgresDsn
from baohuang.rpc.listening import Address, Listen
from baohuang.rpc.settings import ServerSettings


class HistorySettings(ServerSettings):
    """Settings of one replica of the history service. Secrets do not show when it is printed."""

    postgres_dsn: PostgresDsn = Field(
        description="the event log, or a replica of it to read from: postgresql://user:password@host:port/database"
    )
    table_target: Address = Field(
        description="the table service, host:port, to which ReverseRuling goes in its caller's name"
    )
    history_listen: Listen = Field(
        default="127.0.0.1:0", description="address to serve on, host:port; port 0 takes any free one"
    )
