"""Events as a hand has them, for benches of the log."""

import random
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from baohuang.eventlog.codec import encode
from baohuang.eventlog.port import NO_HASH, NO_VERSION, Actor, Append, Appended, NewEvent, RequestId, StreamId, Version
from baohuang.eventlog.summaries import summary_of
from baohuang.rules.events import HandStarted
from baohuang.rules.evolve import fold
from baohuang.rules.rulesets import RulesetId

from .playouts import history_of_a_hand


def _of_a_hand() -> tuple[bytes, Sequence[NewEvent]]:
    """Play a hand, and give the table's summary at its start and the events after it, as the codec stores them."""
    events = history_of_a_hand(RulesetId("homy-standard"), random.Random(1))  # noqa: S311 - no secret
    after_start = 1 + next(place for place, event in enumerate(events) if isinstance(event, HandStarted))
    table = fold(events[:after_start])
    if table is None:
        raise TypeError("no table after its opening")
    return summary_of(table), [NewEvent(*encode(event)) for event in events[after_start:]]


_SUMMARY, EVENTS = _of_a_hand()
"""Tables have the events over and over: mostly plays and passes."""


def opening() -> Append:
    """Make the first command of a new table."""
    return _command(StreamId(secrets.token_hex(8)), NO_VERSION, NO_HASH, _SUMMARY)


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
        outcome=msgspec.json.encode({"tableId": stream_id, "version": version + 1}),
        summary=summary,
    )
