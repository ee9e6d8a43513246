import json
from typing import Any

import pytest
from google.protobuf import json_format
from hypothesis import given, settings
from hypothesis import strategies as st

from baohuang.eventlog.codec import decode, encode
from baohuang.gen.events.v1 import events_pb2
from baohuang.rpc.event_messages import event_from_proto, event_to_proto
from baohuang.rules.events import EVENT_TYPES, Event
from contract.instances import instances

every_type = pytest.mark.parametrize("event_type", EVENT_TYPES)
# A hundred examples for each of 31 types and four properties is a minute and a half for little more.
few = settings(max_examples=15)


def events(event_type: str) -> st.SearchStrategy[Event]:
    """Give events of one type."""
    cls: Any = EVENT_TYPES[event_type]
    return instances(cls)


def canonical_proto3_json(message: events_pb2.Event) -> bytes:
    """Write the event's own message by protobuf's own printer, keys sorted, no whitespace."""
    chosen = message.WhichOneof("event")
    assert chosen
    printed = json_format.MessageToDict(getattr(message, chosen))
    return json.dumps(printed, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


@every_type
@few
@given(data=st.data())
def test_what_is_stored_is_the_canonical_json_of_the_message(event_type: str, data: st.DataObject) -> None:
    """The codec writes, byte for byte, what protobuf prints for the message of the same name (decision 10)."""
    event: Event = data.draw(events(event_type))
    assert encode(event) == (event_type, canonical_proto3_json(event_to_proto(event)))


@every_type
@few
@given(data=st.data())
def test_the_codec_reads_what_it_wrote(event_type: str, data: st.DataObject) -> None:
    """Decode after encode is the identity on every event."""
    event: Event = data.draw(events(event_type))
    assert decode(*encode(event)) == event


@every_type
@few
@given(data=st.data())
def test_the_message_reads_back_over_the_wire(event_type: str, data: st.DataObject) -> None:
    """To a message, to bytes, and all the way back is the identity on every event."""
    event: Event = data.draw(events(event_type))
    received = events_pb2.Event.FromString(event_to_proto(event).SerializeToString())
    assert event_from_proto(received) == event


@every_type
@few
@given(data=st.data())
def test_protobuf_reads_what_is_stored(event_type: str, data: st.DataObject) -> None:
    """Any language's protobuf can read the log: parsing the stored JSON gives the very message."""
    event: Event = data.draw(events(event_type))
    message = event_to_proto(event)
    chosen = getattr(message, message.WhichOneof("event") or "")
    assert json_format.Parse(encode(event)[1], type(chosen)()) == chosen
