"""Events as a hand has them, for benches of the log."""

import secrets
from datetime import UTC, datetime
from typing import Final

from baohuang.eventlog.port import NO_HASH, NO_VERSION, Actor, Append, Appended, NewEvent, RequestId, StreamId, Version

EVENTS: Final = (
    NewEvent("CardsPlayed", b'{"seat":3,"cards":["H3","D3","S3"],"trick":12,"left":27,"dueAt":"2026-05-04T12:00:25Z"}'),
    NewEvent("Passed", b'{"seat":4,"trick":12,"left":31,"dueAt":"2026-05-04T12:00:31Z","hidden":{"thought":"2140"}}'),
    NewEvent("Answered", b'{"seat":1,"question":"QUESTION_REVOLT","order":2,"hidden":{"answer":"ANSWER_NO"}}'),
    NewEvent("TrickWon", b'{"seat":3,"trick":12,"cards":["H3","D3","S3","HK","DK","SK"],"next":3,"windFrom":4}'),
    NewEvent("TrusteeshipBegan", b'{"seat":2,"reason":"REASON_TIMEOUT","turn":57,"since":"2026-05-04T12:01:00Z"}'),
    NewEvent("TrusteeshipEnded", b'{"seat":2,"reason":"REASON_RETURNED","turn":61,"since":"2026-05-04T12:01:40Z"}'),
    NewEvent("PlayerOut", b'{"seat":0,"rank":1,"trick":12,"hidden":{"side":"SIDE_EMPEROR"},"left":[0,12]}'),
    NewEvent("TurnExtended", b'{"seat":4,"turn":62,"reason":"OUTAGE","dueAt":"2026-05-04T12:02:30Z","by":30000}'),
)  # fmt: skip
OUTCOME: Final = b'{"version":214,"positions":[1840271]}'


def opening() -> Append:
    """Make the first command of a new table."""
    return _command(StreamId(secrets.token_hex(8)), NO_VERSION, NO_HASH, b'{"state":"STATE_PLAYING","seats":["a","b"]}')


def following(end: Appended) -> Append:
    """Make the next command of a table."""
    return _command(end.events[-1].stream_id, end.version, end.hash, None)


def _command(stream_id: StreamId, version: int, found: bytes, summary: bytes | None) -> Append:
    return Append(
        stream_id=stream_id,
        expected_version=Version(version),
        expected_hash=found,
        events=(EVENTS[version % len(EVENTS)],),
        actor=Actor(f"player-{version % 5}"),
        request_id=RequestId(f"{stream_id}-{version}"),
        request_digest=found,
        recorded_at=datetime.now(UTC),
        outcome=OUTCOME,
        summary=summary,
    )
