"""What the bots can be told by their environment: `BAOHUANG_TABLE_ADDRESS`, `BAOHUANG_BOTS_KEY`, ..."""

from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from baohuang.rpc.bounds import Pause, Seconds
from baohuang.rpc.listening import Address, Listen
from baohuang.rpc.settings import ServerSettings


class BotsSettings(ServerSettings):
    """Settings of the process that plays for bots."""

    table_address: Address = Field(description="the table service, host:port")
    bots_key: Path | None = Field(
        default=None,
        description="PEM file of the Ed25519 key that signs the bots' tokens; its public half is in the JWK set of the "
        "table service, under its RFC 7638 thumbprint",
    )
    bots_listen: Listen = Field(
        default="127.0.0.1:0", description="address to tell its health on, host:port; port 0 takes any free one"
    )
    bots_think_seconds: Pause = Field(default=0.7, description="how long a bot thinks before a move; 60 at most")
    bots_look_seconds: Seconds = Field(default=0.5, description="how often it looks for tables with bots")

    @model_validator(mode="after")
    def _known_to_tables(self) -> Self:
        """Without a key the bots' own word has to do, which is believed in development only."""
        if self.bots_key is None and not self.insecure_dev:
            raise ValueError("BAOHUANG_BOTS_KEY is needed to sit at tables, unless BAOHUANG_INSECURE_DEV is set")
        return self
