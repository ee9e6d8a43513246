"""The public keys that tokens are checked with, out of a JWK set (RFC 7517).

Each key is pinned to one algorithm by its type, so that a token cannot choose how it is checked (RFC 8725, 3.1):

    OKP, Ed25519   EdDSA
    RSA            RS256
"""

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Final, NewType

import jwt
import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from jwt.algorithms import OKPAlgorithm

KeyId = NewType("KeyId", str)

_LEAST_RSA_BITS: Final = 2048
"""RFC 7518, 3.3."""
_ALGORITHM_NAMES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {"EdDSA": ("EdDSA", "Ed25519"), "RS256": ("RS256",)},
)
"""What a key of ours may be labelled with, by the algorithm it is pinned to (RFC 9864 renames EdDSA)."""


class BadKeySetError(Exception):
    """The text is no JWK set that tokens can be checked with. The message quotes nothing of it."""


@dataclass(frozen=True, slots=True)
class KeySet:
    """Public keys by their id (`kid`). A `jwt.PyJWK` verifies with the algorithm that it is pinned to, no other."""

    by_id: Mapping[KeyId, jwt.PyJWK] = field(default_factory=lambda: MappingProxyType({}))


class _JwkSet(msgspec.Struct):
    """The set as it is written; members unknown to RFC 7517 are ignored, as it demands."""

    keys: list[dict[str, Any]]


def key_set(raw: bytes) -> KeySet:
    """Read a JWK set; keys for other uses and of other types are left out.

    Raises BadKeySetError: when it is no JWK set or nothing in it is of use, when a usable key is broken, weak, without
    `kid` or has another's, and when the set holds a private or a shared key, which then is known to others.
    """
    try:
        found = msgspec.json.decode(raw, type=_JwkSet)
    except (msgspec.MsgspecError, RecursionError):
        raise BadKeySetError("it is not a JWK set: JSON with a list `keys`") from None
    by_id: dict[KeyId, jwt.PyJWK] = {}
    for kid, key in _usable(found.keys):
        if by_id.setdefault(kid, key) is not key:
            raise BadKeySetError("two of its keys have the same kid")
    if not by_id:
        raise BadKeySetError("it holds no key for EdDSA (Ed25519) or RS256")
    return KeySet(MappingProxyType(by_id))


def public_jwk(key: Ed25519PublicKey) -> dict[str, Any]:
    """Return a public key as a JWK; its `kid` is the thumbprint of RFC 7638."""
    public = OKPAlgorithm.to_jwk(key, as_dict=True)
    required = json.dumps({name: public[name] for name in ("crv", "kty", "x")}, separators=(",", ":"))
    kid = base64.urlsafe_b64encode(sha256(required.encode()).digest()).rstrip(b"=").decode()
    return {**public, "kid": kid, "use": "sig", "alg": "EdDSA"}


def _usable(jwks: list[dict[str, Any]]) -> Iterator[tuple[KeyId, jwt.PyJWK]]:
    for place, jwk in enumerate(jwks):
        if "d" in jwk or "k" in jwk:
            raise BadKeySetError(f"keys[{place}] is a secret; only public keys belong here")
        algorithm = _algorithm_of(jwk)
        if algorithm is not None:
            yield _kid_of(jwk, place), _key_of(jwk, algorithm, place)


def _algorithm_of(jwk: dict[str, Any]) -> str | None:
    """Return the algorithm that a key is pinned to, None for a key that is for something else."""
    match jwk:
        case {"use": use} if use != "sig":
            return None
        case {"key_ops": operations} if not isinstance(operations, list) or "verify" not in operations:
            return None
        case {"kty": "OKP", "crv": "Ed25519"}:
            algorithm = "EdDSA"
        case {"kty": "RSA"}:
            algorithm = "RS256"
        case _:
            return None
    return algorithm if jwk.get("alg", algorithm) in _ALGORITHM_NAMES[algorithm] else None


def _kid_of(jwk: dict[str, Any], place: int) -> KeyId:
    kid = jwk.get("kid")
    if not isinstance(kid, str) or not kid:
        raise BadKeySetError(f"keys[{place}] has no kid")
    return KeyId(kid)


def _key_of(jwk: dict[str, Any], algorithm: str, place: int) -> jwt.PyJWK:
    try:
        key = jwt.PyJWK(jwk, algorithm)
    except jwt.PyJWTError:  # whose text quotes the key
        raise BadKeySetError(f"keys[{place}] is not a sound {algorithm} key") from None
    if algorithm == "RS256" and key.key.key_size < _LEAST_RSA_BITS:
        raise BadKeySetError(f"keys[{place}] has less than {_LEAST_RSA_BITS} bits")
    return key
