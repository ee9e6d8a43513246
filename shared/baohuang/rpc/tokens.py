"""Checking a token: a JWT (RFC 7519) signed with a key of ours, for us, now, by a caller of ours.

header     alg: EdDSA or RS256, whichever the key is for    kid: required, the key's id
sub        required: the caller's id, in the alphabet of `auth.caller_id`
exp        required; it is accepted for `leeway_seconds` more
nbf, iat   honoured if there, with the same leeway
aud        required: names our audience, alone or among others
iss        required if an issuer is configured
role       player (the default), operator or service
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import jwt
import msgspec

from baohuang.rpc.auth import AUTHORIZATION_KEY, Caller, Role, caller_id
from baohuang.rpc.errors import Unauthenticated
from baohuang.rpc.key_ring import KeyRing
from baohuang.rpc.keys import KeyId

LEEWAY_SECONDS: Final = 5.0


class TokenProblem(StrEnum):
    """What is wrong with a token; metadata `problem` of the refusal. After EXPIRED a fresh token helps, at once."""

    MISSING = "MISSING"
    MALFORMED = "MALFORMED"
    NO_KEY_ID = "NO_KEY_ID"
    UNKNOWN_KEY = "UNKNOWN_KEY"
    WRONG_ALGORITHM = "WRONG_ALGORITHM"
    WRONG_SIGNATURE = "WRONG_SIGNATURE"
    MALFORMED_CLAIMS = "MALFORMED_CLAIMS"
    EXPIRED = "EXPIRED"
    NOT_YET_VALID = "NOT_YET_VALID"
    WRONG_AUDIENCE = "WRONG_AUDIENCE"
    WRONG_ISSUER = "WRONG_ISSUER"
    UNSOUND_SUBJECT = "UNSOUND_SUBJECT"
    UNKNOWN_ROLE = "UNKNOWN_ROLE"


@dataclass(frozen=True, slots=True)
class TokenPolicy:
    """Whose tokens are accepted, and for whom; `issuer` None accepts any that signs with a key of ours."""

    audience: str
    issuer: str | None = None
    leeway_seconds: float = LEEWAY_SECONDS


@dataclass(frozen=True, slots=True)
class Verified:
    """Who a token is of, and until when it is accepted: seconds since 1970, leeway included."""

    caller: Caller
    until: float


class _Claims(msgspec.Struct):
    """The claims that are looked at; instants are seconds since 1970 (NumericDate)."""

    sub: str
    exp: float
    nbf: float | None = None
    iat: float | None = None
    aud: str | list[str] = []
    iss: str | None = None
    role: str = Role.PLAYER


class TokenVerifier:
    """Checks tokens against the keys in force. It works in memory only and waits for nothing.

    A token of an unknown key is refused at once and the keys are read again behind it: an issuer that publishes a new
    key some seconds before the first token signed with it has none refused.
    """

    def __init__(self, keys: KeyRing, policy: TokenPolicy, clock: Callable[[], float] = time.time) -> None:
        self._keys = keys
        self._policy = policy
        self._clock = clock

    def verify(self, token: str) -> Verified:
        """Return whose token it is. Raises Unauthenticated, which says what is wrong and quotes nothing of it."""
        claims = _claims_in(_payload(token, self._key_of(token)))
        self._check_time(claims)
        self._check_parties(claims)
        return Verified(_caller_in(claims), claims.exp + self._policy.leeway_seconds)

    def _key_of(self, token: str) -> jwt.PyJWK:
        try:
            kid = jwt.get_unverified_header(token).get("kid")
        except jwt.InvalidTokenError:
            raise token_refused(TokenProblem.MALFORMED, "the token is not a JWT in compact form") from None
        if kid is None:
            raise token_refused(TokenProblem.NO_KEY_ID, "the token does not name its key: its header has no kid")
        key = self._keys.current.by_id.get(KeyId(kid))
        if key is None:
            self._keys.want()
            raise token_refused(TokenProblem.UNKNOWN_KEY, "the token's kid is of no key that is known here")
        return key

    def _check_time(self, claims: _Claims) -> None:
        now, leeway = self._clock(), self._policy.leeway_seconds
        if now >= claims.exp + leeway:
            raise token_refused(TokenProblem.EXPIRED, "the token has expired")
        if any(start is not None and start > now + leeway for start in (claims.nbf, claims.iat)):
            raise token_refused(TokenProblem.NOT_YET_VALID, "the token is not valid yet (nbf, iat)")

    def _check_parties(self, claims: _Claims) -> None:
        audiences = [claims.aud] if isinstance(claims.aud, str) else claims.aud
        if self._policy.audience not in audiences:
            raise token_refused(TokenProblem.WRONG_AUDIENCE, "the token is not for this audience (aud)")
        if self._policy.issuer is not None and claims.iss != self._policy.issuer:
            raise token_refused(TokenProblem.WRONG_ISSUER, "the token is not of the issuer trusted here (iss)")


def token_refused(problem: TokenProblem, message: str) -> Unauthenticated:
    """Build the refusal of a token."""
    return Unauthenticated(message, {"key": AUTHORIZATION_KEY, "problem": problem})


def _payload(token: str, key: jwt.PyJWK) -> bytes:
    """Return what is signed, once the signature has proved right."""
    try:
        payload: bytes = jwt.api_jws.decode(token, key, [key.algorithm_name])
    except jwt.InvalidAlgorithmError:
        wanted = f"the token's alg is not that of its key, {key.algorithm_name}"
        raise token_refused(TokenProblem.WRONG_ALGORITHM, wanted) from None
    except jwt.InvalidSignatureError:
        raise token_refused(TokenProblem.WRONG_SIGNATURE, "the token's signature is not by its key") from None
    except jwt.InvalidTokenError:
        raise token_refused(TokenProblem.MALFORMED, "the token is not a JWT in compact form") from None
    return payload


def _claims_in(payload: bytes) -> _Claims:
    try:
        return msgspec.json.decode(payload, type=_Claims)
    except (msgspec.MsgspecError, RecursionError):
        message = "the token's claims are not sound: sub (text) and exp (a number) are required"
        raise token_refused(TokenProblem.MALFORMED_CLAIMS, message) from None


def _caller_in(claims: _Claims) -> Caller:
    player = caller_id(claims.sub)
    if player is None:
        raise token_refused(TokenProblem.UNSOUND_SUBJECT, "the token's sub is not an id that a player can have here")
    try:
        return Caller(player, Role(claims.role))
    except ValueError:
        message = "the token's role is not player, operator or service"
        raise token_refused(TokenProblem.UNKNOWN_ROLE, message) from None
