"""The key that `baohuang up` trusts and `baohuang token` signs with: Ed25519, kept in the data folder.

keys/signing.pem   the private key, for its owner only (0600)
keys/jwks.json     its public half as a JWK set, made anew from it at every start; the services are given this one
"""

import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

import jwt
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from baohuang.rpc.auth import Caller
from baohuang.rpc.keys import public_jwk
from baohuang.rpc.private_file import is_open_to_others

DEFAULT_DATA_DIR: Final = Path(".baohuang")
"""Where `baohuang up` keeps everything, and `baohuang token` looks for the key, unless told otherwise."""
ISSUER: Final = "baohuang-development"
AUDIENCE: Final = "baohuang"


class DevelopmentKeyError(Exception):
    """There is no key, or it cannot be trusted; the message says which file and what to do."""


@dataclass(frozen=True, slots=True)
class DevelopmentKey:
    """An Ed25519 key that vouches for callers of one data folder's services, or of whose issuer it is one."""

    private: Ed25519PrivateKey = field(repr=False)
    issuer: str | None = ISSUER
    audience: str = AUDIENCE

    @classmethod
    def of(cls, data_dir: Path) -> Self:
        """Read the key of a data folder. Raises DevelopmentKeyError."""
        path = signing_key_path(data_dir)
        if not path.exists():
            raise DevelopmentKeyError(f"there is no key at {path}: start `baohuang up` with this data folder first")
        return cls.read(path, ISSUER, AUDIENCE)

    @classmethod
    def read(cls, path: Path, issuer: str | None, audience: str) -> Self:
        """Read the key of a PEM file, for tokens of an issuer (None: unnamed). Raises DevelopmentKeyError, OSError."""
        if is_open_to_others(path.stat(), os.geteuid()):
            raise DevelopmentKeyError(f"{path} is open to other users: remove it, and `baohuang up` makes another")
        try:
            private = load_pem_private_key(path.read_bytes(), password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            private = None  # told below, with keys of other kinds
        if not isinstance(private, Ed25519PrivateKey):
            raise DevelopmentKeyError(f"{path} is no Ed25519 key: remove it, and `baohuang up` makes another")
        return cls(private, issuer, audience)

    @classmethod
    def made_or_found(cls, data_dir: Path) -> Self:
        """Read the key of a data folder, made first if there is none, and write its JWK set anew.

        Whoever calls it holds the folder. Raises DevelopmentKeyError, OSError.
        """
        path = signing_key_path(data_dir)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        if not path.exists():
            pem = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
            _write(path, pem, 0o600)
        key = cls.of(data_dir)
        _write(jwks_path(data_dir), json.dumps({"keys": [key.jwk]}).encode(), 0o644)
        return key

    @property
    def jwk(self) -> dict[str, Any]:
        """Its public half; `kid` is the thumbprint of RFC 7638."""
        return public_jwk(self.private.public_key())

    def token(self, caller: Caller, seconds: float) -> str:
        """Sign a token of the caller that lasts so long from now."""
        now = time.time()
        claims = {
            **({"iss": self.issuer} if self.issuer else {}),
            "aud": self.audience,
            "sub": caller.player,
            "role": str(caller.role),
            "iat": int(now),
            "exp": int(now + seconds),
        }
        return jwt.encode(claims, self.private, "EdDSA", headers={"kid": self.jwk["kid"]})


def signing_key_path(data_dir: Path) -> Path:
    """Where a data folder has its private key."""
    return data_dir.resolve() / "keys" / "signing.pem"


def jwks_path(data_dir: Path) -> Path:
    """Where a data folder has the JWK set that its services are given."""
    return data_dir.resolve() / "keys" / "jwks.json"


def _write(path: Path, content: bytes, mode: int) -> None:
    """Put a file in place whole, so that nobody reads half of it, and never with wider rights than `mode`."""
    new = path.with_suffix(".new")
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
