"""Issuers of tokens: keys that sign whatever claims a test wants, and the JWK sets that publish them."""

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import OKPAlgorithm, RSAAlgorithm

from baohuang.rpc.key_ring import KeyRing
from baohuang.rpc.keys import key_set

NOW = 1_800_000_000.0
"""The time it is for tests that set the clock."""


@dataclass(frozen=True, slots=True)
class Signer:
    """A key of an issuer."""

    kid: str
    private: Ed25519PrivateKey | RSAPrivateKey

    @property
    def algorithm(self) -> str:
        """What it signs with."""
        return "EdDSA" if isinstance(self.private, Ed25519PrivateKey) else "RS256"

    @property
    def jwk(self) -> dict[str, Any]:
        """Its public half."""
        if isinstance(self.private, Ed25519PrivateKey):
            return {**OKPAlgorithm.to_jwk(self.private.public_key(), as_dict=True), "kid": self.kid}
        return {**RSAAlgorithm.to_jwk(self.private.public_key(), as_dict=True), "kid": self.kid}

    @property
    def public_pem(self) -> bytes:
        """Its public half, as an attacker may have it."""
        return self.private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

    def token(self, now: float = NOW, **changes: Any) -> str:
        """Sign sound claims with these changes; a claim changed to None is left out."""
        claims = {"sub": "alice", "aud": "baohuang", "exp": now + 60} | changes
        return self.signed(json.dumps({name: value for name, value in claims.items() if value is not None}).encode())

    def signed(self, payload: bytes, **header: Any) -> str:
        """Sign any payload under any header."""
        return jwt.api_jws.encode(payload, self.private, self.algorithm, {"kid": self.kid} | header)


@cache
def ed25519(kid: str = "ed") -> Signer:
    """Give the Ed25519 key of this name, the same at every call."""
    return Signer(kid, Ed25519PrivateKey.generate())


@cache
def rsa(kid: str = "rsa", bits: int = 2048) -> Signer:
    """Give the RSA key of this name."""
    return Signer(kid, generate_private_key(65537, bits))


def jwks(*signers: Signer) -> bytes:
    """Publish keys."""
    return json.dumps({"keys": [signer.jwk for signer in signers]}).encode()


class Published:
    """A place where a key set is published: `raw` is what is there; `readings` counts who looked."""

    def __init__(self, raw: bytes, every_seconds: float = 3600.0) -> None:
        self.raw = raw
        self.every_seconds = every_seconds
        self.readings = 0

    def read(self) -> bytes:
        """Look."""
        self.readings += 1
        return self.raw


def ring_of(*signers: Signer) -> KeyRing:
    """Give a ring with these keys in force."""
    ring = KeyRing(Published(jwks(*signers)))
    ring.current = key_set(jwks(*signers))
    return ring


def bearer(token: str) -> tuple[tuple[str, str], ...]:
    """Give the metadata of a call with the token."""
    return (("authorization", f"Bearer {token}"),)
