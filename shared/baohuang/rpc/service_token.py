"""The token that a service shows to the services it calls, as a setting: looked at before anybody is shown it.

Whether it will be believed is for those services to say. What they are never shown is found here: what no header
carries, and what has expired.
"""

import time
from collections.abc import Iterator
from typing import Annotated, Final

import jwt
import msgspec
from pydantic import AfterValidator, SecretStr

from baohuang.metrics.family import Family, Kind, Reading, alone

EXPIRES: Final = Family(
    "baohuang_service_token_expires_timestamp_seconds",
    Kind.GAUGE,
    "When the token expires that this service shows to others, in seconds since 1970; not told if it has no end.",
)


class _Claims(msgspec.Struct):
    """What is looked at of claims that nobody has verified; NumericDate."""

    exp: float | None = None


def expires_at(token: str) -> float | None:
    """Return when a token says that it expires, in seconds since 1970; None for one that says nothing of it."""
    try:
        payload = jwt.api_jws.decode_complete(token, options={"verify_signature": False})["payload"]
        return msgspec.json.decode(payload, type=_Claims).exp
    except (jwt.InvalidTokenError, msgspec.MsgspecError, RecursionError):
        return None


def _checked(given: SecretStr) -> SecretStr:
    token = given.get_secret_value()
    if not token:
        raise ValueError("is empty")
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise ValueError("holds a character that no token has, such as a line break or a space within")
    expires = expires_at(token)
    if expires is not None and expires <= time.time():
        raise ValueError("has expired")
    return given


ServiceToken = Annotated[SecretStr, AfterValidator(_checked)]
"""A token as a setting."""


def read_service_token(token: SecretStr | None) -> Iterator[Reading]:
    """Read when it expires."""
    expires = expires_at(token.get_secret_value()) if token else None
    yield Reading(EXPIRES, alone(expires) if expires is not None else {})
