"""Commands to append, as short as a test needs them."""

import secrets
from datetime import UTC, datetime
from hashlib import sha256

from baohuang.eventlog.port import (
    NO_HASH,
    NO_VERSION,
    Actor,
    Append,
    Appended,
    ClaimName,
    EventLog,
    Head,
    NewEvent,
    RequestId,
    StreamId,
    Version,
    VersionConflict,
)

PLAYED = NewEvent("CardsPlayed", b'{"cards":["H3","D3"],"hidden":{"left":["\xe5\xa4\xa7\xe7\x8e\x8b"]},"seat":3}')
STARTED = NewEvent("HandStarted", b'{"hand":1}')
NOON = datetime(2026, 5, 4, 12, 0, 0, 123456, tzinfo=UTC)
LONG_AFTER = datetime(2126, 5, 4, tzinfo=UTC)
"""When the timer is due of who asks for no other: so that commands go the way that moves go, the quick one."""


def new_stream() -> StreamId:
    """Make up a stream id."""
    return StreamId(f"table-{secrets.token_hex(8)}")


def new_name() -> ClaimName:
    """Make up a name that nobody holds."""
    return ClaimName(f"player-{secrets.token_hex(8)}")


def command(
    stream_id: StreamId,
    version: int = NO_VERSION,
    found: bytes = NO_HASH,
    events: tuple[NewEvent, ...] = (PLAYED,),
    *,
    actor: str = "wei",
    request_id: str = "",
    body: bytes = b"",
    outcome: bytes = b'{"ok":true}',
    summary: bytes | None = None,
    recorded_at: datetime = NOON,
    due_at: datetime | None = LONG_AFTER,
    not_before: datetime | None = None,
    not_after: datetime | None = None,
    claims: tuple[ClaimName, ...] = (),
    releases: tuple[ClaimName, ...] = (),
    unclaimed: tuple[ClaimName, ...] = (),
) -> Append:
    """Make a command on a stream at a version and hash, by default one on a new stream with a request id of its own."""
    return Append(
        stream_id=stream_id,
        expected_version=Version(version),
        expected_hash=found,
        events=events,
        actor=Actor(actor),
        request_id=RequestId(request_id or secrets.token_hex(8)),
        request_digest=sha256(body).digest(),
        recorded_at=recorded_at,
        outcome=outcome,
        summary=summary,
        due_at=due_at,
        not_before=not_before,
        not_after=not_after,
        claims=claims,
        releases=releases,
        unclaimed=unclaimed,
    )


def after(stream_id: StreamId, end: Appended | VersionConflict | Head, event: NewEvent = PLAYED) -> Append:
    """Make a command that follows what was appended or found."""
    return command(stream_id, end.version, end.hash, (event,))


async def accepted(log: EventLog, wanted: Append) -> Appended:
    """Append a command that has to succeed."""
    outcome = await log.append(wanted)
    assert isinstance(outcome, Appended), outcome
    return outcome


async def grow(log: EventLog, stream_id: StreamId, events: int) -> Appended:
    """Make a new stream of that many events, each appended by itself."""
    end = await accepted(log, command(stream_id))
    for _ in range(events - 1):
        end = await accepted(log, after(stream_id, end))
    return end
