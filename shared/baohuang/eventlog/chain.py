"""The hash chain of a stream: tamper-evident without telling.

Each event's hash is SHA-256(previous hash ‖ SHA-256(public part) ‖ SHA-256(salt ‖ hidden part)). Both parts are JSON in
the form of RFC 8785 (keys sorted, no whitespace, UTF-8, nothing escaped that need not be):

    public   {"actor", "data", "recordedAt", "stream", "type", "version"}   data without its key "hidden"
    hidden   {"hidden", "requestId"}                                        "hidden" only where data has it

`recordedAt` is RFC 3339 in UTC with exactly six decimals and "Z". The salt, 16 random bytes an event, keeps a hidden
choice from being guessed by hashing its few possible values; it is published with the hidden part and the request id
once the hand is over, by HistoryService. Until then a spectator checks the chain from public parts and hidden digests.

What is hashed is what is stored: its JSON decoded and written again in that one form. Floats have no place in it, since
no two writers agree on their spelling.

Everything here is pure. A chain that does not hold raises `ChainBroken`, which names the flaw and the place.
"""

import enum
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final

import msgspec
from msgspec import Struct

from baohuang.eventlog.port import (
    NO_HASH,
    NO_VERSION,
    Actor,
    Append,
    Head,
    NewEvent,
    Position,
    RequestId,
    StoredEvent,
    StreamId,
    Unstorable,
    Version,
)

SALT_BYTES: Final = 16


class Flaw(enum.Enum):
    """What is wrong with a chain."""

    WRONG_STREAM = "the event belongs to another stream"
    OUT_OF_SEQUENCE = "the version is not the next one: an event was removed, added or moved"
    WRONG_HASH = "the hash is not that of the event and its predecessor: one of them was changed"
    WRONG_HEAD = "the head does not match the last event: the tail was cut or added to, or the head was changed"


class ChainBroken(Exception):  # noqa: N818 (a finding about the data, not a failure of the caller)
    """The chain does not hold: what is wrong, in which stream, at which version."""

    def __init__(self, flaw: Flaw, stream_id: StreamId, version: Version) -> None:
        """Keep the flaw and its place."""
        super().__init__(f"{stream_id} at version {version}: {flaw.value}")
        self.flaw = flaw
        self.stream_id = stream_id
        self.version = version


class Tip(Struct, frozen=True, gc=False):
    """How far a chain has been followed: all the memory that checking a stream of any length takes."""

    stream_id: StreamId
    version: Version
    hash: bytes


class Link(Struct, frozen=True, gc=False):
    """A new event with the place, salt and hash that its chain gives it."""

    version: Version
    type: str
    data: bytes
    salt: bytes
    hash: bytes


class PublicEvent(Struct, frozen=True, gc=False):
    """What anybody may see of an event, and enough to check the chain: `data` has no "hidden"."""

    stream_id: StreamId
    version: Version
    type: str
    data: bytes
    actor: Actor
    recorded_at: datetime
    hidden_digest: bytes
    hash: bytes


def _no_floats(number: str) -> object:
    raise ValueError(f"an event holds no floats: {number}")


_decode: Final = msgspec.json.Decoder(float_hook=_no_floats).decode
_encode: Final = msgspec.json.Encoder(order="sorted").encode


def start(stream_id: StreamId) -> Tip:
    """Return the tip before the first event."""
    return Tip(stream_id, NO_VERSION, NO_HASH)


def link(command: Append, salts: Sequence[bytes]) -> tuple[Link, ...]:
    """Chain a command's events on the head it expects; one salt of 16 bytes an event.

    Raises Unstorable for data that is not a JSON object without floats, or whose "hidden" is not an object, and for
    text with half a character (a lone surrogate).
    """
    try:
        return tuple(_links(command, salts))
    except UnicodeEncodeError as error:
        raise Unstorable(f"text holds whole characters: {error}") from error


def store(command: Append, links: Iterable[Link], before: Position) -> tuple[StoredEvent, ...]:
    """Return a command's events as they stand in the log after position `before`."""
    return tuple(
        StoredEvent(
            Position(position),
            command.stream_id,
            link.version,
            link.type,
            link.data,
            command.actor,
            command.request_id,
            command.recorded_at,
            link.salt,
            link.hash,
        )
        for position, link in enumerate(links, before + 1)
    )


def publish(event: StoredEvent) -> PublicEvent:
    """Take away what is hidden, leaving its salted digest in its place.

    Raises ValueError if the stored data is not a JSON object of the form `link` accepts.
    """
    data, hidden = _parts(event.data)
    digest = hidden_digest(event.salt, _hidden_part(event.request_id, hidden))
    return PublicEvent(
        event.stream_id, event.version, event.type, _encode(data), event.actor, event.recorded_at, digest, event.hash
    )


def digest_of(event: StoredEvent) -> bytes:
    """Return the salted digest (32 bytes) that stands for what an event hides; the same as `publish` gives.

    Cheap where nothing but the request id is hidden, as in most events. Raises ValueError as `publish` does.
    """
    hidden = _parts(event.data)[1] if b'"hidden"' in event.data else None
    return hidden_digest(event.salt, _hidden_part(event.request_id, hidden))


def follow(tip: Tip, event: PublicEvent) -> Tip:
    """Check one event against the tip before it and return the tip after it.

    Raises ChainBroken.
    """
    if event.stream_id != tip.stream_id:
        raise ChainBroken(Flaw.WRONG_STREAM, event.stream_id, event.version)
    if event.version != tip.version + 1:
        raise ChainBroken(Flaw.OUT_OF_SEQUENCE, tip.stream_id, Version(tip.version + 1))
    public = _public_part(
        event.stream_id,
        event.version,
        event.type,
        actor=event.actor,
        recorded_at=instant(event.recorded_at),
        data=_decode(event.data),
    )
    if next_hash(tip.hash, public, event.hidden_digest) != event.hash:
        raise ChainBroken(Flaw.WRONG_HASH, tip.stream_id, event.version)
    return Tip(tip.stream_id, event.version, event.hash)


def verify(tip: Tip, events: Iterable[StoredEvent]) -> Tip:
    """Check stored events one after the other, in constant memory, and return where they end.

    Raises ChainBroken.
    """
    for event in events:
        tip = follow(tip, _published(event))
    return tip


def verify_public(tip: Tip, events: Iterable[PublicEvent]) -> Tip:
    """Check the chain as a spectator can, from public parts and hidden digests.

    Raises ChainBroken.
    """
    for event in events:
        tip = follow(tip, event)
    return tip


def verify_end(tip: Tip, head: Head | None) -> None:
    """Check that a chain followed to its end is as long as its head says.

    Raises ChainBroken.
    """
    found = Tip(head.stream_id, head.version, head.hash) if head else start(tip.stream_id)
    if found != tip:
        raise ChainBroken(Flaw.WRONG_HEAD, tip.stream_id, tip.version)


def next_hash(previous: bytes, public_part: bytes, hidden_part_digest: bytes) -> bytes:
    """Return an event's hash (32 bytes) from the hash before it, its public part and its hidden digest."""
    return sha256(previous + sha256(public_part).digest() + hidden_part_digest).digest()


def hidden_digest(salt: bytes, hidden_part: bytes) -> bytes:
    """Return the digest (32 bytes) that stands for a hidden part until its salt is published."""
    return sha256(salt + hidden_part).digest()


@lru_cache(maxsize=256)  # a command's own moment is written into all that comes of it
def instant(moment: datetime) -> str:
    """Write an aware UTC moment in the one form that is hashed: RFC 3339, six decimals, Z."""
    return moment.isoformat(timespec="microseconds")[:26] + "Z"


def _links(command: Append, salts: Sequence[bytes]) -> Iterator[Link]:
    recorded_at = instant(command.recorded_at)
    previous = command.expected_hash
    for version, (event, salt) in enumerate(zip(command.events, salts, strict=True), command.expected_version + 1):
        data, hidden = _new_parts(event)
        public = _public_part(
            command.stream_id, version, event.type, actor=command.actor, recorded_at=recorded_at, data=data
        )
        previous = next_hash(previous, public, hidden_digest(salt, _hidden_part(command.request_id, hidden)))
        yield Link(Version(version), event.type, event.data, salt, previous)


def _parts(data: bytes) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Split stored data into what everybody may know and the rest; ValueError if it has another shape."""
    public = _decode(data)
    if not isinstance(public, dict):
        raise ValueError("data is a JSON object")  # noqa: TRY004 (of the value, as from the decoder)
    if "hidden" not in public:
        return public, None
    hidden = public.pop("hidden")
    if not isinstance(hidden, dict):
        raise ValueError('"hidden" is a JSON object')  # noqa: TRY004
    return public, hidden


def _new_parts(event: NewEvent) -> tuple[dict[str, Any], dict[str, Any] | None]:
    try:
        return _parts(event.data)
    except ValueError as error:
        raise Unstorable(f"{event.type}: {error}") from error


def _published(event: StoredEvent) -> PublicEvent:
    try:
        return publish(event)
    except ValueError as error:
        # Somebody wrote JSON here that `link` would not have let in.
        raise ChainBroken(Flaw.WRONG_HASH, event.stream_id, event.version) from error


def _public_part(
    stream_id: StreamId, version: int, event_type: str, *, actor: Actor, recorded_at: str, data: dict[str, Any]
) -> bytes:
    return _encode(
        {
            "actor": actor,
            "data": data,
            "recordedAt": recorded_at,
            "stream": stream_id,
            "type": event_type,
            "version": version,
        }
    )


def _hidden_part(request_id: RequestId, hidden: dict[str, Any] | None) -> bytes:
    return _encode({"requestId": request_id} if hidden is None else {"hidden": hidden, "requestId": request_id})
