"""How a client says who it is: metadata that goes with every call."""

from dataclasses import dataclass
from typing import Protocol

from baohuang.rpc.auth import PLAYER_KEY
from baohuang.rules.state import PlayerId

Metadata = tuple[tuple[str, str], ...]


class Credentials(Protocol):
    """Gives the metadata of a call. It is asked anew for every attempt, so what expires can be renewed."""

    def metadata(self) -> Metadata:
        """Return pairs of lower-case key and value."""


@dataclass(frozen=True, slots=True)
class DevelopmentIdentity:
    """The player's own word, which a server believes only with its development identities on, over loopback."""

    player: PlayerId

    def metadata(self) -> Metadata:
        """Return the player's id under the key that such a server reads."""
        return ((PLAYER_KEY, self.player),)
