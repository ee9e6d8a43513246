"""Checkpoints: signed statements of where every stream ended at a position of the log.

    root       SHA-256 over all streams, by id: length of the id in UTF-8 (4 bytes), the id, version (8 bytes), hash
    statement  {"keyId", "madeAt", "position", "previous", "root", "streams"} in the JSON form that events are hashed in
    signature  Ed25519 over "baohuang/checkpoint/v1" ‖ 0x00 ‖ statement

Numbers in the root are big-endian, bytes in the statement hexadecimal. `previous` is the SHA-256 of the statement
before, so none can be left out. Kept outside of the database, a checkpoint shows what nobody can take back: a tail that
was cut, a stream that was removed, a chain that was made anew.
"""

from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from typing import Final

import jwt
import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from msgspec import Struct

from baohuang.eventlog.chain import instant
from baohuang.eventlog.port import NO_HASH, Position, StreamId, Version
from baohuang.rpc.keys import KeyId

_DOMAIN: Final = b"baohuang/checkpoint/v1\x00"
_encode: Final = msgspec.json.Encoder(order="sorted").encode


class StreamEnd(Struct, frozen=True, gc=False):
    """Where a stream ended: the version and hash of its last event."""

    stream_id: StreamId
    version: Version
    hash: bytes


class Root:
    """Takes in the ends of all streams, ascending by id, and gives the root over them."""

    def __init__(self) -> None:
        self.streams = 0
        self._hash = sha256()

    def add(self, end: StreamEnd) -> None:
        """Take in the next stream."""
        name = end.stream_id.encode()
        self._hash.update(len(name).to_bytes(4, "big") + name + end.version.to_bytes(8, "big") + end.hash)
        self.streams += 1

    @property
    def value(self) -> bytes:
        """The root, 32 bytes."""
        return self._hash.digest()


class Statement(Struct, frozen=True):
    """What a checkpoint says."""

    position: Position
    made_at: datetime
    streams: int
    root: bytes
    previous: bytes
    key_id: KeyId

    @property
    def text(self) -> bytes:
        """The statement as it is signed."""
        return _encode(
            {
                "keyId": self.key_id,
                "madeAt": instant(self.made_at),
                "position": self.position,
                "previous": self.previous.hex(),
                "root": self.root.hex(),
                "streams": self.streams,
            }
        )

    @property
    def signed(self) -> bytes:
        """The bytes that the signature is over."""
        return _DOMAIN + self.text

    @property
    def digest(self) -> bytes:
        """What the checkpoint after this one names it by, 32 bytes."""
        return sha256(self.text).digest()


class Checkpoint(Struct, frozen=True):
    """A statement and its Ed25519 signature, 64 bytes."""

    statement: Statement
    signature: bytes

    def flaw(self, keys: Mapping[KeyId, jwt.PyJWK]) -> str:
        """Return why the signature is not to be trusted with these keys, nothing if it is."""
        trusted = keys.get(self.statement.key_id)
        if trusted is None or not isinstance(trusted.key, Ed25519PublicKey):
            return f"it is signed with the key {self.statement.key_id}, which is not among those given"
        try:
            trusted.key.verify(self.signature, self.statement.signed)
        except InvalidSignature:
            return "its signature is not of what it says"
        return ""


def after(last: Checkpoint | None) -> bytes:
    """Return what the checkpoint after this one has for `previous`."""
    return NO_HASH if last is None else last.statement.digest
