"""Updates as they come over the wire, read into the rules' events; the one place of the client that does."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from baohuang.eventlog.chain import PublicEvent
from baohuang.eventlog.codec import encode
from baohuang.eventlog.port import Actor, StreamId, Version
from baohuang.gen.table.v1 import table_view_pb2, watch_pb2
from baohuang.rpc.event_messages import event_from_proto
from baohuang.rpc.messages import UnmappableError, from_proto
from baohuang.rules.events import Event
from baohuang.rules.state import Table, TableId
from baohuang.scoring.events import Booked, FinePosted, FineReturned, HandScored


@dataclass(frozen=True, slots=True)
class View:
    """A table as one viewer may see it. `seat` is the seat it is masked for, None for the public's view."""

    table: Table
    version: Version
    hash: bytes
    seat: int | None
    millis_left: int | None
    """Milliseconds left to whoever has to act when it was sent; None where no clock runs."""


@dataclass(frozen=True, slots=True)
class Update:
    """One event as the viewer may see it, with what it takes to check the chain."""

    version: Version
    hash: bytes
    hidden_digest: bytes
    recorded_at: datetime
    actor: Actor
    event: Event
    to_act: tuple[int, ...]
    """The seats that have to act after it, ascending."""
    millis_left: int | None
    """Milliseconds they had left when it was sent; None where no clock runs."""


def view_in(message: table_view_pb2.TableView) -> View:
    """Return the view. Raises UnmappableError for one that is newer than this client."""
    seat = message.viewer_seat if message.HasField("viewer_seat") else None
    left = message.millis_left if message.HasField("millis_left") else None
    return View(from_proto(message, Table), Version(message.version), message.hash, seat, left)


def update_in(message: watch_pb2.Update) -> Update:
    """Return the update. Raises UnmappableError for an event that this client does not know yet."""
    return Update(
        version=Version(message.version),
        hash=message.hash,
        hidden_digest=message.hidden_digest,
        recorded_at=datetime.fromisoformat(message.recorded_at),
        actor=Actor(message.actor),
        event=event_from_proto(message.event),
        to_act=tuple(message.seats_to_act),
        millis_left=message.millis_left if message.HasField("millis_left") else None,
    )


def posted_in(message: watch_pb2.WatchTableResponse) -> Booked | None:
    """Return what a notice tells of the ledger; None for a message that is none, or one newer than this client."""
    try:
        if message.HasField("hand_scored"):
            return from_proto(message.hand_scored, HandScored)
        if message.HasField("fine_posted"):
            return from_proto(message.fine_posted, FinePosted)
        if message.HasField("fine_returned"):
            return from_proto(message.fine_returned, FineReturned)
    except UnmappableError:
        return None
    return None


def public_part(table_id: TableId, update: Update) -> PublicEvent:
    """Return what everybody may know of the event, as the chain hashes it: computed here, not taken on trust."""
    event: Any = update.event
    name, data = encode(replace(event, hidden=None) if hasattr(event, "hidden") else event)
    return PublicEvent(
        stream_id=StreamId(table_id),
        version=update.version,
        type=name,
        data=data,
        actor=update.actor,
        recorded_at=update.recorded_at,
        hidden_digest=update.hidden_digest,
        hash=update.hash,
    )
