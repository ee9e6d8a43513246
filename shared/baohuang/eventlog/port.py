"""The event log as its users see it: what is appended, what comes back, what can go wrong.

A log holds streams (one a table). Every event of a stream has a version 1, 2, 3, … and every event of the log a
position 1, 2, 3, … in commit order; neither has holes. Appends are optimistic: a command names the version and hash
its decision was based on. They are idempotent: a command is known by its actor and request id, and the reply to an
accepted one is kept.

A log also keeps names that one stream at a time may hold (`ClaimName`): what they stand for is the caller's business.

What the log says about an append is an `Outcome`, a value; what keeps it from saying anything is an error:

    EventLogError
    ├── LogUnavailable       the log could not settle the command
    │   ├── LogBusy          nothing was written: send it again whenever you like
    │   └── OutcomeUnknown   it may or may not have been written: send the same request id again to learn which
    ├── Unstorable           the command itself cannot be stored (text with NUL, a float): sending it again is useless
    ├── LogClosed            this log was closed by its owner
    └── LogCorrupted         the head has the expected version under another hash: the log was changed or restored

Values that are made for every command are msgspec structs, which are made many times faster than frozen dataclasses.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, NewType, Protocol

from msgspec import Struct

StreamId = NewType("StreamId", str)
Version = NewType("Version", int)
"""Place of an event in its stream, from 1; 0 is the version of a stream that does not exist."""
Position = NewType("Position", int)
"""Place of an event in the whole log, from 1, contiguous in commit order."""
Actor = NewType("Actor", str)
RequestId = NewType("RequestId", str)
ClaimName = NewType("ClaimName", str)
"""A name that at most one stream of the log holds: a text, not empty, compared byte by byte."""

NO_VERSION: Final = Version(0)
NO_HASH: Final = bytes(32)
"""The hash before the first event of every stream."""
NO_POSITION: Final = Position(0)


class EventLogError(Exception):
    """Root of everything an event log raises."""


class LogUnavailable(EventLogError):  # noqa: N818 (the tree reads as states of the log)
    """The log could not settle a command or answer a read."""


class LogBusy(LogUnavailable):
    """Nothing was written, and the command may be sent again."""


class OutcomeUnknown(LogUnavailable):
    """The connection went away after the command was sent; the same request id tells what became of it."""


class Unstorable(EventLogError):  # noqa: N818
    """The command holds something the log cannot keep; it is refused alone and for ever."""


class LogClosed(EventLogError):  # noqa: N818
    """The log was closed before it took the command."""


class LogCorrupted(EventLogError):  # noqa: N818
    """A head carries the expected version under another hash."""

    def __init__(self, stream_id: StreamId, version: Version, expected_hash: bytes, found_hash: bytes) -> None:
        """Keep both hashes (32 bytes each) for the alarm."""
        super().__init__(f"{stream_id} at version {version}: {found_hash.hex()} stored, {expected_hash.hex()} expected")
        self.stream_id = stream_id
        self.version = version
        self.expected_hash = expected_hash
        self.found_hash = found_hash


class NewEvent(Struct, frozen=True, gc=False):
    """An event not yet in the log.

    `data` is the canonical proto3 JSON object of its message (lowerCamelCase, defaults omitted, no floats). What not
    everybody may know stands under its top-level key "hidden", an object; the log knows nothing else about it.
    """

    type: str
    data: bytes


_MOMENTS: Final = ("recorded_at", "due_at", "not_before", "not_after")


class Append(Struct, frozen=True, gc=False):
    """One command's effect on one stream.

    Version 0 with `NO_HASH` means "must not exist yet". `recorded_at` is the command's own reading of the database's
    clock (UTC, microseconds), the same for all its events. `outcome` is the JSON stored as the command's reply,
    `request_digest` any digest of the request's body (callers compare it on a duplicate). `summary` is a small JSON
    object kept on the head for listings; None leaves the old one.

    `due_at` is when the stream's timer is due, None for no timer: every append replaces the timer, or takes it away.
    `not_before` has the append refused as `TooEarly` unless the store's own clock has reached it, `not_after` as
    `TooLate` once that clock is past it: what was decided by an older reading is to be decided again.

    `releases` are names the stream gives up, with no effect where it does not hold them; `claims` are names it holds
    from this append on, held already or given up in the same append or not. `unclaimed` are names that no other stream
    may hold when this is appended. A name of another stream has the append refused, as
    `Refused("a_name_is_claimed_once")` or `Refused("a_name_is_unclaimed")`, and so has an empty one, as
    `Refused("a_claim_is_named")`.

    Raises ValueError for no events, an instant that is not UTC, and a hash of the wrong length.
    """

    stream_id: StreamId
    expected_version: Version
    expected_hash: bytes
    events: tuple[NewEvent, ...]
    actor: Actor
    request_id: RequestId
    request_digest: bytes
    recorded_at: datetime
    outcome: bytes
    summary: bytes | None = None
    due_at: datetime | None = None
    not_before: datetime | None = None
    not_after: datetime | None = None
    claims: tuple[ClaimName, ...] = ()
    releases: tuple[ClaimName, ...] = ()
    unclaimed: tuple[ClaimName, ...] = ()

    def __post_init__(self) -> None:
        if not self.events:
            raise ValueError("an append holds at least one event")
        for name in _MOMENTS:
            moment = getattr(self, name)
            # Nearly all are in the one object for UTC, which needs no arithmetic.
            if moment is not None and moment.tzinfo is not UTC and moment.utcoffset() != timedelta(0):
                raise ValueError(f"{name} is an aware UTC datetime")
        if len(self.expected_hash) != len(NO_HASH):
            raise ValueError("expected_hash has 32 bytes")

    @property
    def version(self) -> Version:
        """The stream's version once this is appended."""
        return Version(self.expected_version + len(self.events))


class StoredEvent(Struct, frozen=True, gc=False):
    """An event of the log; `data` is its JSON as the store gives it back (equal as JSON, not byte for byte)."""

    position: Position
    stream_id: StreamId
    version: Version
    type: str
    data: bytes
    actor: Actor
    request_id: RequestId
    recorded_at: datetime
    salt: bytes
    hash: bytes


class Appended(Struct, frozen=True, gc=False):
    """The command's events are committed; version, hash and position are those of its last event."""

    version: Version
    hash: bytes
    position: Position
    events: tuple[StoredEvent, ...]


@dataclass(frozen=True, slots=True)
class VersionConflict:
    """The stream was elsewhere; version and hash are its head's now (0 and `NO_HASH`: there is no such stream)."""

    version: Version
    hash: bytes


@dataclass(frozen=True, slots=True)
class Duplicate:
    """This actor's request id was accepted before, in this stream, ending at this version, with this reply."""

    stream_id: StreamId
    version: Version
    request_digest: bytes
    outcome: bytes


@dataclass(frozen=True, slots=True)
class Refused:
    """A constraint of the store, named after the rule it keeps, refused this command alone."""

    constraint: str


@dataclass(frozen=True, slots=True)
class TooEarly:
    """The store's clock has not reached the command's `not_before`; nothing was written."""

    not_before: datetime


@dataclass(frozen=True, slots=True)
class TooLate:
    """The store's clock is past the command's `not_after`; nothing was written."""

    not_after: datetime


Outcome = Appended | VersionConflict | Duplicate | Refused | TooEarly | TooLate


@dataclass(frozen=True, slots=True)
class Head:
    """Where a stream ends, and its summary as JSON."""

    stream_id: StreamId
    version: Version
    hash: bytes
    summary: bytes


@dataclass(frozen=True, slots=True)
class Current:
    """A stream's head and what became of one request, read together; None where there is none."""

    head: Head | None
    duplicate: Duplicate | None


@dataclass(frozen=True, slots=True)
class Due:
    """A stream's timer that is due, leased to whoever got this; armed by the append that ended at that version."""

    stream_id: StreamId
    armed_for_version: Version
    due_at: datetime


class EventReader(Protocol):
    """What reads an event log; a replica of its store will do, which may be a moment behind.

    Reads raise `LogUnavailable` when the store does not answer in time.
    """

    async def head(self, stream_id: StreamId) -> Head | None:
        """Return where the stream ends, None if it does not exist."""

    async def versions(self, stream_ids: Sequence[StreamId]) -> Mapping[StreamId, Version]:
        """Return where each of many streams ends, in one query; those that do not exist are left out."""

    async def read_stream(
        self, stream_id: StreamId, after_version: Version = NO_VERSION, limit: int = 1000
    ) -> Sequence[StoredEvent]:
        """Return up to `limit` events of one stream after a version, in order."""

    async def read_since_last(self, stream_id: StreamId, event_type: str) -> Sequence[StoredEvent]:
        """Return the events from the last one of that type on; all of the stream if there is none of that type."""

    async def read_all(self, after_position: Position = NO_POSITION, limit: int = 1000) -> Sequence[StoredEvent]:
        """Return up to `limit` events of the whole log after a position, in order.

        What is missing at the end comes later and never in between: positions appear in order.
        """

    async def current(self, stream_id: StreamId, actor: Actor, request_id: RequestId) -> Current:
        """Return head and stored reply in one round trip; to be asked before any refusal is answered."""

    async def find_request(self, actor: Actor, request_id: RequestId) -> Duplicate | None:
        """Return what became of an accepted request, None if none was accepted under that id."""

    async def list_heads(self, where: bytes = b"{}", after: StreamId | None = None, limit: int = 100) -> Sequence[Head]:
        """Return up to `limit` heads whose summary contains `where` (JSON, PostgreSQL's `@>`).

        In descending order of stream id (by code point), so newest first where ids grow with time; `after` is the last
        stream id of the page before. That order never changes under the reader, unlike one by last change.
        """

    async def holders(self, names: Sequence[ClaimName]) -> Mapping[ClaimName, StreamId]:
        """Return which stream holds each of these names; those that nobody holds are left out."""

    async def clock(self) -> datetime:
        """Return the store's clock (UTC), the only one that decides; callers measure their offset to it."""


class EventLog(EventReader, Protocol):
    """What every event log does; one conformance suite holds all of them to it."""

    async def append(self, command: Append) -> Outcome:
        """Append one command's events, all or none; when this returns `Appended` they are durable.

        A request accepted before is answered first, then a stale version, then a moment to come or gone by,
        then a broken constraint. Cancelling the caller never undoes an append under way.

        Raises LogBusy, OutcomeUnknown, Unstorable, LogClosed, LogCorrupted.
        """

    async def claim_due(self, limit: int, lease_seconds: float) -> Sequence[Due]:
        """Lease up to `limit` timers due by the store's clock, the longest due first, and return them.

        Nobody else is given one of them until so many seconds have passed; then, unless an append has replaced the
        timer or taken it away, it can be claimed again. So a claim may be lost or come twice, and what is done about a
        timer has to stand that.
        """
