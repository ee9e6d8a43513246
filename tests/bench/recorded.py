"""A table of 300 real events in a log, its hand still being played."""

import random
from datetime import UTC, datetime
from typing import Final

import msgspec

from baohuang.eventlog.codec import encode
from baohuang.eventlog.port import (
    NO_HASH,
    NO_VERSION,
    Actor,
    Append,
    Appended,
    EventLog,
    NewEvent,
    RequestId,
    StreamId,
)
from baohuang.rules.events import Event, HandStarted
from baohuang.rules.rulesets import RulesetId
from baohuang.rules.state import TableId

from .playouts import history_of_a_hand

EVENTS_A_TABLE: Final = 300
_RULESET: Final = RulesetId("homy-standard")


def hand_events(dice: random.Random) -> tuple[Event, ...]:
    """Return the first 300 events of a table whose hand begins with the first of them that a rebuild needs."""
    while True:
        events = history_of_a_hand(_RULESET, dice)
        start = next(place for place, event in enumerate(events) if isinstance(event, HandStarted))
        if len(events) - start > EVENTS_A_TABLE:
            return tuple(events[start : start + EVENTS_A_TABLE])


async def record_table(log: EventLog, dice: random.Random) -> TableId:
    """Append the events to the log as one command and return the table's id."""
    table_id = TableId("bench")
    outcome = await log.append(
        Append(
            stream_id=StreamId(table_id),
            expected_version=NO_VERSION,
            expected_hash=NO_HASH,
            events=tuple(NewEvent(*encode(event)) for event in hand_events(dice)),
            actor=Actor("bench"),
            request_id=RequestId("bench"),
            request_digest=b"",
            recorded_at=datetime.now(UTC),
            outcome=msgspec.json.encode({}),
        )
    )
    if not isinstance(outcome, Appended):
        raise TypeError(f"not appended: {outcome}")
    return table_id
