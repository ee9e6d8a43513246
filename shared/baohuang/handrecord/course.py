"""Whether events are those of one finished hand, in a row, with all that the record's variant holds of them."""

from itertools import pairwise
from typing import Final, get_args

from baohuang.handrecord.malformed import MalformedRecord
from baohuang.handrecord.record import HandRecord, RecordedEvent, Variant
from baohuang.rules.deal import SEATS
from baohuang.rules.events import (
    CardsDealt,
    CrownYielded,
    Event,
    HandEvent,
    HandFinished,
    HandStarted,
    SeedCommitted,
    TableDissolved,
    VoidReversed,
)
from baohuang.rules.state import ALL_SEATS

WITHIN: Final = (*(kind for kind in get_args(HandEvent) if kind is not VoidReversed), SeedCommitted)
"""What may stand between the beginning and the end of a hand."""


def check_course(record: HandRecord) -> None:
    """Check the order of the events, their versions and what they hide. Raises MalformedRecord."""
    events = record.events
    if not events or not isinstance(events[0].event, HandStarted):
        raise MalformedRecord("events[0].type", "must be HandStarted")
    _check_start(events[0].event, events[0].version)
    _check_versions(events)
    end = _end_of(events)
    for number, recorded in enumerate(events[1:end], 1):
        if not isinstance(recorded.event, WITHIN):
            raise MalformedRecord(f"events[{number}].type", f"{_name(recorded.event)} does not belong into a hand")
    _check_end(record, end)
    for number, recorded in enumerate(events):
        _check_hidden(number, recorded.event, record.variant)


def _check_start(started: HandStarted, version: int) -> None:
    if len(set(started.players)) != SEATS or not all(started.players):
        raise MalformedRecord("events[0].data.players", f"must be {SEATS} different players")
    if started.version != version:
        raise MalformedRecord("events[0].data.version", f"is {started.version}, the event's own is {version}")


def _check_versions(events: tuple[RecordedEvent, ...]) -> None:
    if events[0].version < 1:
        raise MalformedRecord("events[0].version", "versions begin with 1")
    for number, (before, after) in enumerate(pairwise(events), 1):
        if after.version != before.version + 1:
            raise MalformedRecord(f"events[{number}].version", f"must be {before.version + 1}, not {after.version}")


def _end_of(events: tuple[RecordedEvent, ...]) -> int:
    """Return the index of the HandFinished with which the hand ends."""
    last = len(events) - 1
    if isinstance(events[last].event, TableDissolved):
        last -= 1
    if not isinstance(events[last].event, HandFinished):
        raise MalformedRecord(f"events[{last}].type", "must be HandFinished: a record is of a finished hand")
    return last


def _check_end(record: HandRecord, end: int) -> None:
    """Check that the hand that ends is the one that began."""
    started, finished = record.started, record.finished
    if finished.hand != started.hand:
        raise MalformedRecord(f"events[{end}].data.hand", f"hand {started.hand} began, {finished.hand} ended")
    if finished.players and finished.players != started.players:
        raise MalformedRecord(f"events[{end}].data.players", "are not those who began the hand")
    if finished.ruleset and (finished.ruleset, finished.options) != (started.ruleset, started.options):
        raise MalformedRecord(f"events[{end}].data.ruleset", "ruleset and options are not those the hand began with")


def _check_hidden(number: int, event: Event, variant: Variant) -> None:
    if not hasattr(event, "hidden"):
        return
    if variant is Variant.PUBLIC and event.hidden is not None:
        raise MalformedRecord(f"events[{number}].data.hidden", "a public record shows nothing that was hidden")
    if isinstance(event, CardsDealt) and event.hidden and [held.seat for held in event.hidden.hands] != list(ALL_SEATS):
        raise MalformedRecord(f"events[{number}].data.hidden.hands", "must be those of all five seats, in order")
    may_be_empty = isinstance(event, CrownYielded) and not event.pasted
    if variant is Variant.FULL and event.hidden is None and not may_be_empty:
        raise MalformedRecord(f"events[{number}].data.hidden", "a full record has it")


def _name(event: Event) -> str:
    return type(event).__name__
