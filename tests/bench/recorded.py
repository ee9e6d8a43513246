"""Tables of real events in a log, their hands still being played."""

import random
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

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
_INTO_THE_TRICKS: Final = 60
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
    await record(log, table_id, hand_events(dice))
    return table_id


def table_in_mid_hand(table_id: TableId, dice: random.Random) -> tuple[NewEvent, ...]:
    """Return the encoded events of a table from its opening into the tricks of its first hand."""
    events: list[Any] = [*history_of_a_hand(_RULESET, dice)[:_INTO_THE_TRICKS]]
    named = (replace(event, table_id=table_id) if hasattr(event, "table_id") else event for event in events)
    return tuple(NewEvent(*encode(event)) for event in named)


async def record(log: EventLog, table_id: TableId, events: Iterable[Event]) -> None:
    """Append the events to the log as one command of a new table."""
    await append(log, table_id, tuple(NewEvent(*encode(event)) for event in events))


async def append(log: EventLog, table_id: TableId, events: tuple[NewEvent, ...]) -> None:
    """Append encoded events to the log as one command of a new table."""
    outcome = await log.append(
        Append(
            stream_id=StreamId(table_id),
            expected_version=NO_VERSION,
            expected_hash=NO_HASH,
            events=events,
            actor=Actor("bench"),
            request_id=RequestId(table_id),
            request_digest=b"",
            recorded_at=datetime.now(UTC),
            outcome=msgspec.json.encode({}),
        )
    )
    if not isinstance(outcome, Appended):
        raise TypeError(f"not appended: {outcome}")
