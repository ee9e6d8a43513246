"""The record as the history service tells it, read into the rules' events; the one place of the client that does."""

from dataclasses import dataclass
from datetime import datetime

from baohuang.audit.judgement import Moment, Reversal
from baohuang.audit.told import Told
from baohuang.eventlog.port import Actor, Position, RequestId, StreamId, Version
from baohuang.gen.history.v1 import history_service_pb2 as pb
from baohuang.rpc.event_messages import event_from_proto
from baohuang.rpc.messages import UnmappableError, from_proto
from baohuang.rules.events import Event
from baohuang.rules.state import Instant, PlayerId


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """An event as it stands in the log, as the caller may see it; see the message of this name."""

    position: Position
    table_id: StreamId
    """The table, or `player:` and a player's id."""
    version: Version
    hash: bytes
    hidden_digest: bytes
    recorded_at: datetime
    actor: Actor
    type: str
    event: Event | None
    """None if it is newer than the service, or than this client."""
    salt: bytes
    """Opens `hidden_digest`, once the hand is over; else empty."""
    request_id: RequestId


@dataclass(frozen=True, slots=True)
class Ruling:
    """A ruling at a glance; see the message of this name."""

    recorded: RecordedEvent
    clause: str
    players: tuple[PlayerId, ...]
    decided_at: Instant
    decided: Told
    reversed_by: Version | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a ruling was made; see the message `Judgement`."""

    version: Version
    kind: str
    decided: Told
    clause: str
    clause_text: Told
    decided_at: Instant
    timeline: tuple[Moment, ...]
    follows: bool
    findings: tuple[str, ...]
    wrong: tuple[Told, ...]
    reversed_by: Reversal | None
    """What took it back; None: it stands."""


@dataclass(frozen=True, slots=True)
class RecordFinding:
    """Something wrong with a record, as the service found it; see the message `Finding`."""

    check: str
    version: Version
    clause: str
    message: str


@dataclass(frozen=True, slots=True)
class Verification:
    """What the service found when it verified a table: nothing, if the record holds."""

    events: int
    findings: tuple[RecordFinding, ...]


def recorded_in(message: pb.RecordedEvent) -> RecordedEvent:
    """Return the event."""
    try:
        event = event_from_proto(message.event)
    except UnmappableError:
        event = None
    return RecordedEvent(
        position=Position(message.position),
        table_id=StreamId(message.table_id),
        version=Version(message.version),
        hash=message.hash,
        hidden_digest=message.hidden_digest,
        recorded_at=datetime.fromisoformat(message.recorded_at),
        actor=Actor(message.actor),
        type=message.type,
        event=event,
        salt=message.salt,
        request_id=RequestId(message.request_id),
    )


def ruling_in(message: pb.Ruling) -> Ruling:
    """Return the ruling."""
    return Ruling(
        recorded=recorded_in(message.recorded),
        clause=message.clause,
        players=tuple(map(PlayerId, message.players)),
        decided_at=Instant(message.decided_at),
        decided=from_proto(message.decided, Told),
        reversed_by=Version(message.reversed_by) if message.HasField("reversed_by") else None,
    )
