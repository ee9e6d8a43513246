"""Who calls. An `Authenticator` reads a call's metadata and gives the `Caller`, or raises Unauthenticated.

`BearerAuthenticator` (module `bearer`) wants a token; `DevelopmentAuthenticator` believes what the client says about
itself and is for loopback only; `TokenOrWordAuthenticator` is both; `NobodyAuthenticator` refuses all.
"""

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NewType, Protocol

from baohuang.rpc.errors import Unauthenticated

AUTHORIZATION_KEY = "authorization"
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


def caller_id(text: str) -> CallerId | None:
    """Return the text as a caller's id, None if it cannot be one.

    It can if it is 1 to 64 of `A-Z a-z 0-9 . _ @ : -`, the first a letter or digit.
    """
    return CallerId(text) if _CALLER_ID.fullmatch(text) else None


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
        name, role = "", "player"
        for key, value in metadata:
            if key == PLAYER_KEY and isinstance(value, str):
                name = value
            elif key == ROLE_KEY and isinstance(value, str):
                role = value
        player = caller_id(name)
        if player is None:
            raise _missing(PLAYER_KEY, "1 to 64 of A-Z a-z 0-9 . _ @ : -, the first a letter or digit")
        if role not in _ROLES:
            raise _missing(ROLE_KEY, "player, operator or service")
        return Caller(player, _ROLES[role])


class TokenOrWordAuthenticator:
    """Takes a caller's token if he sends one, sound or not, and else believes his word."""

    def __init__(self, tokens: Authenticator, word: DevelopmentAuthenticator) -> None:
        self._tokens = tokens
        self._word = word

    def authenticate(self, metadata: Metadata) -> Caller:
        """Give the caller. Raises Unauthenticated."""
        pairs = tuple(metadata)
        if any(key == AUTHORIZATION_KEY for key, _ in pairs):
            return self._tokens.authenticate(pairs)
        return self._word.authenticate(pairs)


class NobodyAuthenticator:
    """Knows nobody: what a server has until a way to prove identity is configured."""

    def authenticate(self, metadata: Metadata) -> Caller:  # noqa: ARG002 - the protocol's signature
        """Raise Unauthenticated, always."""
        raise Unauthenticated("this server has no way to know its callers configured")


class InsecureListenError(Exception):
    """Development identities were asked for on an address that others can reach."""


def authenticator_for(listen: str, *, insecure_dev: bool, tokens: Authenticator | None = None) -> Authenticator:
    """Choose the authenticator for a server at `listen` ("host:port"); `tokens` is there if it has keys to check them.

    Raises InsecureListenError for development identities anywhere but on loopback.
    """
    if not insecure_dev:
        return tokens or NobodyAuthenticator()
    if not is_loopback(listen):
        raise InsecureListenError(f"insecure_dev believes every client, so it is for loopback only, not {listen}")
    word = DevelopmentAuthenticator()
    return TokenOrWordAuthenticator(tokens, word) if tokens else word


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
