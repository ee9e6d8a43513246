"""How players that a command makes up say who they are."""

from collections.abc import Callable
from typing import Final

import jwt

from baohuang.client import BearerToken, Credentials, DevelopmentIdentity
from baohuang.rpc.auth import Caller, CallerId, Role
from baohuang.rules.state import PlayerId
from command_line.development_key import DevelopmentKey

_TOKEN_SECONDS: Final = 3600.0

Identify = Callable[[PlayerId], Credentials]
"""Gives a player's credentials."""


def by_own_word(player: PlayerId) -> Credentials:
    """Say it, to a service that believes it: one with development identities on."""
    return DevelopmentIdentity(player)


def by_key(key: DevelopmentKey, role: Role = Role.PLAYER) -> Identify:
    """Prove it by tokens of the key, each signed when it is needed."""

    def by_token(player: PlayerId) -> Credentials:
        caller = Caller(CallerId(player), role)
        return BearerToken(lambda: key.token(caller, _TOKEN_SECONDS))

    return by_token


def subject_of(token: str) -> PlayerId | None:
    """Return the player that the token is for, by its own word (the service checks it); None if it is no token."""
    try:
        subject = jwt.decode(token, options={"verify_signature": False}).get("sub")
    except jwt.InvalidTokenError:
        return None
    return PlayerId(subject) if isinstance(subject, str) else None
