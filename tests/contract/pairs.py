"""Which dataclass of the rules stands for which message of the contract, found by walking both together."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, NewType, get_args, get_type_hints

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from baohuang.gen.events.v1 import events_pb2
from baohuang.gen.table.v1 import table_service_pb2, table_view_pb2
from baohuang.rules import commands as cmd
from baohuang.rules.events import EVENT_TYPES
from baohuang.rules.state import Table

MOVES = {move.__name__: move for move in get_args(cmd.Move)}
EVENT = events_pb2.Event.DESCRIPTOR.oneofs_by_name["event"]
ACTION = table_service_pb2.ActRequest.DESCRIPTOR.oneofs_by_name["action"]

Pair = tuple[type, Descriptor]


def message_of(field: FieldDescriptor) -> Descriptor:
    """Give the message that a field holds."""
    assert field.message_type is not None
    return field.message_type


def roots() -> Iterator[Pair]:
    """Give the pairs to begin with: every event, every move, the table."""
    for oneof, classes in ((EVENT, EVENT_TYPES), (ACTION, MOVES)):
        for field in oneof.fields:
            yield classes[message_of(field).name], message_of(field)
    yield Table, table_view_pb2.TableView.DESCRIPTOR


def all_pairs() -> set[Pair]:
    """Give the pairs that the roots lead to, roots included."""
    found: set[Pair] = set()
    waiting = list(roots())
    while waiting:
        pair = waiting.pop()
        if pair not in found:
            found.add(pair)
            waiting += _below(*pair)
    return found


def enum_pairs() -> set[tuple[type[Enum], EnumDescriptor]]:
    """Give the enums that the fields of all pairs lead to, in both worlds."""
    found = set()
    for cls, message in all_pairs():
        for field, named in _shared(cls, message):
            found |= {
                (leaf, field.enum_type) for leaf in named if issubclass(leaf, Enum) and field.enum_type is not None
            }
    return found


def _below(cls: type, message: Descriptor) -> Iterator[Pair]:
    for field, named in _shared(cls, message):
        for leaf in named:
            if is_dataclass(leaf) and field.message_type is not None:
                yield leaf, field.message_type


def _shared(cls: type, message: Descriptor) -> Iterator[tuple[FieldDescriptor, set[type]]]:
    """Give each field that both have, and the classes named in its annotation."""
    hints = get_type_hints(cls)
    for field in fields(cls):
        if field.name in message.fields_by_name:
            yield message.fields_by_name[field.name], set(_leaves(hints[field.name]))


def _leaves(annotation: Any) -> Iterator[type]:
    if isinstance(annotation, NewType):
        yield from _leaves(annotation.__supertype__)
    elif get_args(annotation):
        for argument in get_args(annotation):
            yield from _leaves(argument)
    elif isinstance(annotation, type):
        yield annotation
