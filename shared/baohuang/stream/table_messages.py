"""Events of the log as messages of the stream `baohuang-table`: what everybody may see of them, and no more.

    subject  baohuang.v1.table.<table id>.<event type>
    body     {"actor", "data", "hash", "hiddenDigest", "position", "recordedAt", "stream", "type", "version"}
    headers  Baohuang-Hash, and Baohuang-Preceded-By on the kinds that settle

The body is JSON in the form of RFC 8785, as the chain hashes it: `data` has no "hidden", hashes are lower-case hex. So
whoever follows the stream checks the chain of every table from it alone.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

import msgspec

from baohuang.eventlog.chain import instant, publish
from baohuang.eventlog.port import Actor, Position, StoredEvent, StreamId, Version
from baohuang.stream.port import HASH_HEADER, PRECEDED_BY_HEADER, Message, Number, Unprocessable
from baohuang.stream.streams import TABLE_STREAM

SETTLING: Final = ("HandFinished", "PlayerFined", "FineReversed", "VoidReversed")
"""The kinds of events that points follow from. Each names the last one before it, for consumers of these alone."""


@dataclass(frozen=True, slots=True)
class TableEvent:
    """An event as everybody may see it. `data` is its JSON without "hidden"; `recorded_at` is UTC.

    `hidden_digest` (32 bytes) is None if it was read from the log's public view, which has none.
    """

    position: Position
    stream_id: StreamId
    version: Version
    type: str
    data: bytes
    actor: Actor
    recorded_at: datetime
    hidden_digest: bytes | None
    hash: bytes


class _Body(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    actor: str
    data: msgspec.Raw
    hash: str
    position: int
    recorded_at: str
    stream: str
    type: str
    version: int
    hidden_digest: str | None = None


_encode: Final = msgspec.json.Encoder(order="sorted").encode
_decode: Final = msgspec.json.Decoder(_Body).decode


def public_event(stored: StoredEvent) -> TableEvent:
    """Return what everybody may see of a stored event: `redact` for the public, done on what is stored."""
    event = publish(stored)
    return TableEvent(
        stored.position,
        event.stream_id,
        event.version,
        event.type,
        event.data,
        event.actor,
        event.recorded_at,
        event.hidden_digest,
        event.hash,
    )


def message_of(event: TableEvent, preceded_by: Number | None) -> Message:
    """Return the message that carries an event; `preceded_by` is None for kinds that do not settle."""
    headers = {HASH_HEADER: event.hash.hex()}
    if preceded_by is not None:
        headers[PRECEDED_BY_HEADER] = str(preceded_by)
    body = _Body(
        actor=event.actor,
        data=msgspec.Raw(event.data),
        hash=event.hash.hex(),
        position=event.position,
        recorded_at=instant(event.recorded_at),
        stream=event.stream_id,
        type=event.type,
        version=event.version,
        hidden_digest=event.hidden_digest.hex() if event.hidden_digest is not None else None,
    )
    return Message(Number(event.position), TABLE_STREAM.subject(event.stream_id, event.type), _encode(body), headers)


def event_of(message: Message) -> TableEvent:
    """Return the event that a message carries. Raises Unprocessable."""
    try:
        body = _decode(message.body)
        return TableEvent(
            Position(body.position),
            StreamId(body.stream),
            Version(body.version),
            body.type,
            bytes(body.data),
            Actor(body.actor),
            datetime.fromisoformat(body.recorded_at),
            None if body.hidden_digest is None else bytes.fromhex(body.hidden_digest),
            bytes.fromhex(body.hash),
        )
    except ValueError as error:
        raise Unprocessable(f"message {message.number} carries no event: {error}") from error
