"""How a client says who it is: metadata that goes with every call."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from baohuang.rpc.auth import AUTHORIZATION_KEY, PLAYER_KEY
from baohuang.rules.state import PlayerId

Metadata = tuple[tuple[str, str], ...]


class Credentials(Protocol):
    """Gives the metadata of a call. It is asked anew for every attempt, so what expires can be renewed."""

    def metadata(self) -> Metadata:
        """Return pairs of lower-case key and value."""


@dataclass(frozen=True, slots=True)
class BearerToken:
    """A signed token that proves who the caller is: the token itself, or what gives a fresh one.

    A callable is asked for every attempt of every call, so it has to answer from memory and renew the token in time.
    An open stream outlives its token until the connection is closed for its age.
    """

    token: str | Callable[[], str] = field(repr=False)

    def metadata(self) -> Metadata:
        """Return the token as it is now under the key of RFC 6750."""
        token = self.token if isinstance(self.token, str) else self.token()
        return ((AUTHORIZATION_KEY, f"Bearer {token}"),)


@dataclass(frozen=True, slots=True)
class DevelopmentIdentity:
    """The player's own word, which a server believes only with its development identities on, over loopback."""

    player: PlayerId

    def metadata(self) -> Metadata:
        """Return the player's id under the key that such a server reads."""
        return ((PLAYER_KEY, self.player),)
