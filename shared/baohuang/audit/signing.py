"""The keys that checkpoints are signed with: an Ed25519 key in a PEM file, its public half in a JWK set.

The set holds the public halves of all keys there ever were, so that a new key leaves the old signatures good.
"""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

from baohuang.audit.checkpoints import Checkpoint, Statement
from baohuang.rpc.keys import KeyId, public_jwk
from baohuang.rpc.private_file import is_open_to_others


class SigningKeyError(Exception):
    """There is no key to sign with, or none to be made; the message says which file and why."""


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key; its id is the thumbprint of RFC 7638."""

    private: Ed25519PrivateKey = field(repr=False)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a PEM file. Raises SigningKeyError, OSError."""
        if is_open_to_others(path.stat(), os.geteuid()):
            raise SigningKeyError(f"{path} is open to other users")
        try:
            private = load_pem_private_key(path.read_bytes(), password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            private = None  # told below, with keys of other kinds
        if not isinstance(private, Ed25519PrivateKey):
            raise SigningKeyError(f"{path} is no Ed25519 key in PEM without a password")
        return cls(private)

    @classmethod
    def made(cls, path: Path, jwks: Path) -> Self:
        """Make a key and write it to a new file, for its owner only; add its public half to a JWK set.

        Raises SigningKeyError if the file exists or the set is none, OSError.
        """
        keys = _keys_in(jwks)
        key = cls(Ed25519PrivateKey.generate())
        pem = key.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            raise SigningKeyError(f"{path} exists already") from None
        with os.fdopen(descriptor, "wb") as file:
            file.write(pem)
            file.flush()
            os.fsync(file.fileno())
        new = jwks.with_suffix(".new")
        new.write_text(json.dumps({"keys": [*keys, public_jwk(key.private.public_key())]}, indent=2), encoding="utf-8")
        new.replace(jwks)
        return key

    @property
    def key_id(self) -> KeyId:
        """The `kid` of its public half."""
        return KeyId(public_jwk(self.private.public_key())["kid"])

    def sign(self, statement: Statement) -> Checkpoint:
        """Sign a statement that names this key."""
        return Checkpoint(statement, self.private.sign(statement.signed))


def _keys_in(jwks: Path) -> list[object]:
    try:
        keys: object = json.loads(jwks.read_bytes())["keys"]
    except FileNotFoundError:
        return []
    except (ValueError, KeyError, TypeError):
        keys = None
    if not isinstance(keys, list):
        raise SigningKeyError(f"{jwks} is no JWK set")
    return keys
