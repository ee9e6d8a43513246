"""Who calls. An `Authenticator` reads a call's metadata and gives the `Caller`, or raises Unauthenticated.

Two exist: `DevelopmentAuthenticator` believes what the client says about itself and is for loopback only;
`NobodyAuthenticator` refuses all. A bearer-token one takes their place behind the same protocol.
"""

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NewType, Protocol

from baohuang.rpc.errors import Unauthenticated

PLAYER_KEY = "baohuang-player"
ROLE_KEY = "baohuang-role"

Metadata = Iterable[tuple[str, str | bytes]]
CallerId = NewType("CallerId", str)

# Printable, free of separators used in subjects, paths and log lines; starts with a letter or digit.
_CALLER_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@:-]{0,63}", re.ASCII)


class Role(StrEnum):
    """What a caller may be."""

    PLAYER = "player"
    """Plays, and sees what his seat may see."""
    OPERATOR = "operator"
    """Rules on tables and sees everything."""
    SERVICE = "service"
    """Another service of this system."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The identity behind a call. `player` is the caller's id, whatever his role."""

    player: CallerId
    role: Role


class Authenticator(Protocol):
    """Reads the caller out of a call's metadata. It is on the path of every call: no waiting, no I/O."""

    def authenticate(self, metadata: Metadata) -> Caller:
        """Give the caller. Raises Unauthenticated."""


class DevelopmentAuthenticator:
    """Believes what the client says of itself; never for a server others can reach.

    Metadata `baohuang-player`: 1 to 64 of `A-Z a-z 0-9 . _ @ : -`, the first a letter or digit. Metadata
    `baohuang-role`, optional: player (the default), operator or service.
    """

    def authenticate(self, metadata: Metadata) -> Caller:
        """Give who the client says it is. Raises Unauthenticated, naming the bad or missing key."""
        player, role = "", "player"
        for key, value in metadata:
            if key == PLAYER_KEY and isinstance(value, str):
                player = value
            elif key == ROLE_KEY and isinstance(value, str):
                role = value
        if _CALLER_ID.fullmatch(player) is None:
            raise _missing(PLAYER_KEY, "1 to 64 of A-Z a-z 0-9 . _ @ : -, the first a letter or digit")
        if role not in _ROLES:
            raise _missing(ROLE_KEY, "player, operator or service")
        return Caller(CallerId(player), _ROLES[role])


class NobodyAuthenticator:
    """Knows nobody: what a server has until a way to prove identity is configured."""

    def authenticate(self, metadata: Metadata) -> Caller:  # noqa: ARG002 - the protocol's signature
        """Raise Unauthenticated, always."""
        raise Unauthenticated("this server has no way to know its callers configured")


class InsecureListenError(Exception):
    """Development identities were asked for on an address that others can reach."""


def authenticator_for(listen: str, *, insecure_dev: bool) -> Authenticator:
    """Choose the authenticator for a server at `listen` ("host:port").

    Raises InsecureListenError for development identities anywhere but on loopback.
    """
    if not insecure_dev:
        return NobodyAuthenticator()
    if not is_loopback(listen):
        raise InsecureListenError(f"insecure_dev believes every client, so it is for loopback only, not {listen}")
    return DevelopmentAuthenticator()


def is_loopback(listen: str) -> bool:
    """Whether "host:port" is a loopback address by number; names are not resolved and count as not."""
    host = listen.rpartition(":")[0].strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


_ROLES = {str(role): role for role in Role}


def _missing(key: str, wanted: str) -> Unauthenticated:
    return Unauthenticated(f"metadata {key} must be {wanted}", {"key": key})
