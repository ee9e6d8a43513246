from dataclasses import fields
from enum import Enum
from types import UnionType
from typing import Union, get_origin, get_type_hints

import pytest
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from baohuang.gen.events.v1 import events_pb2
from baohuang.gen.rules.v1 import error_reason_pb2
from baohuang.gen.table.v1 import table_view_pb2
from baohuang.rpc.reason import Reason
from baohuang.rules.events import EVENT_TYPES
from baohuang.rules.refusals import Refusal
from baohuang.rules.state import Table
from contract.pairs import ACTION, EVENT, MOVES, all_pairs, enum_pairs, message_of

VIEW_ONLY = {"hash", "viewer_seat", "millis_left"}
STORED_TYPES = {
    FieldDescriptor.TYPE_INT32,
    FieldDescriptor.TYPE_BOOL,
    FieldDescriptor.TYPE_STRING,
    FieldDescriptor.TYPE_ENUM,
    FieldDescriptor.TYPE_MESSAGE,
}

ALL_PAIRS = sorted(all_pairs(), key=lambda pair: pair[1].full_name)
ALL_ENUMS = sorted(enum_pairs(), key=lambda pair: pair[0].__name__)

pairs = pytest.mark.parametrize(("cls", "message"), ALL_PAIRS, ids=[message.full_name for _, message in ALL_PAIRS])


@pairs
def test_a_dataclass_and_its_message_have_the_same_fields(cls: type, message: Descriptor) -> None:
    """A field added, removed or renamed on one side only is found; a view has three fields of its own."""
    extra = VIEW_ONLY if cls is Table else set()
    assert {field.name for field in fields(cls)} | extra == set(message.fields_by_name)


@pairs
def test_what_may_be_absent_has_presence(cls: type, message: Descriptor) -> None:
    """`X | None` is exactly what a message can leave out: zero is a seat like any other."""
    hints = get_type_hints(cls)
    scalars = {name: field for name, field in message.fields_by_name.items() if field.message_type is None}
    for name in scalars.keys() & hints.keys():
        assert scalars[name].has_presence == (get_origin(hints[name]) in {UnionType, Union}), name


@pairs
def test_a_dataclass_and_its_message_have_the_same_name(cls: type, message: Descriptor) -> None:
    """Who reads the log finds the class by the message's name; only the table's view is called a view."""
    assert message.name == ("TableView" if cls is Table else cls.__name__)


@pytest.mark.parametrize(("enum", "descriptor"), ALL_ENUMS, ids=[enum.__name__ for enum, _ in ALL_ENUMS])
def test_enums_have_the_same_values(enum: type[Enum], descriptor: EnumDescriptor) -> None:
    """Each member's value is the name of an enum value, and besides them there is only the unspecified zero."""
    named = {value.name for value in descriptor.values if value.number}
    assert {member.value for member in enum} == named
    assert descriptor.values_by_number[0].name.endswith("_UNSPECIFIED")


def test_all_enums_of_the_rules_were_compared() -> None:
    """The walk through the fields reaches the enums that it should: none of the comparisons above is vacuous."""
    reached = {enum.__name__ for enum, _ in enum_pairs()}
    assert reached == {
        "Answer", "ClosingReason", "Deck", "Direction", "Ending", "FineReason", "Guarding", "Phase", "PointsTable",
        "Solo", "TableStatus", "TrusteeshipReason", "UnseatingReason", "Yielding",
    }  # fmt: skip


def test_every_event_and_every_move_has_its_field() -> None:
    """The oneofs list the events and the moves of the rules, all of them and no others."""
    assert {message_of(field).name for field in EVENT.fields} == set(EVENT_TYPES)
    assert {message_of(field).name for field in ACTION.fields} == set(MOVES)


def test_every_reason_is_documented_in_the_contract() -> None:
    """A reason that a call may be refused with, by the rules or by the servers, is in the enum; and no other is."""
    documented = {name.removeprefix("ERROR_REASON_") for name in error_reason_pb2.ErrorReason.keys()}  # noqa: SIM118
    spoken = {reason.value for reason in Refusal} | {reason.value for reason in Reason}
    assert documented - {"UNSPECIFIED"} == spoken


def test_stored_messages_hold_only_what_json_can_keep() -> None:
    """Events and all within them are of int32, bool, string, enums, messages and lists, so both forms are equal."""
    seen: set[str] = set()
    waiting: list[Descriptor] = [events_pb2.Event.DESCRIPTOR]
    while waiting:
        message = waiting.pop()
        seen.add(message.full_name)
        for field in message.fields:
            assert field.type in STORED_TYPES, field.full_name
            if field.message_type is not None and field.message_type.full_name not in seen:
                waiting.append(field.message_type)
    assert "baohuang.rules.v1.Previous" in seen


def test_the_walk_reaches_the_depths_of_the_view() -> None:
    """The comparison of fields covers what lies deepest in a table's view."""
    messages = {message.name for _, message in all_pairs()}
    nested = {field.message_type.name for field in table_view_pb2.Hand.DESCRIPTOR.fields if field.message_type}
    assert nested - {"CardsInHand"} <= messages
    assert "Pasted" in messages


def test_hidden_is_the_one_place_for_secrets() -> None:
    """An event's `hidden` is a message that may be absent, and messages named Hidden appear nowhere else."""
    for field in EVENT.fields:
        for part in message_of(field).fields:
            secret = part.message_type is not None and part.message_type.name.startswith("Hidden")
            assert secret == (part.name == "hidden"), part.full_name
