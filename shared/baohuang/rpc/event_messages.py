"""The game's events ↔ the contract's `Event`."""

from baohuang.gen.events.v1 import events_pb2
from baohuang.rpc.messages import choice_from_proto, choice_to_proto
from baohuang.rules.events import EVENT_TYPES, Event


def event_to_proto(event: Event) -> events_pb2.Event:
    """Return the event as the contract's `Event`."""
    return choice_to_proto(event, events_pb2.Event, "event")


def event_from_proto(message: events_pb2.Event) -> Event:
    """Return the contract's `Event` as an event. Raises UnmappableError for one that these stubs do not know."""
    return choice_from_proto(message, "event", EVENT_TYPES)
