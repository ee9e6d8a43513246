"""Hypothesis strategies for messages of the contract: any message at all, with likely values so that some go far."""

from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from hypothesis import strategies as st

from baohuang.rules.cards import HIDDEN, JOKERS, PLAIN
from baohuang.rules.rulesets import RULESETS

TABLES = ("<0>", "<1>", "<2>")
"""Stand for the ids of tables that a test has."""

_INTEGERS = st.sampled_from((0, 1, 2, 3, 4, 5, 7, 30, -1, 100, 2**31 - 1, -(2**31))) | st.integers(-(2**31), 2**31 - 1)
_TEXTS = st.sampled_from(("", "\0", "a\0b", "皇" * 30, "x" * 5000, "'; drop table events; --", '{"a":1}')) | st.text(
    max_size=20
)
_CARDS = st.sampled_from((*PLAIN[:12], *JOKERS, HIDDEN, "9h", "1h", ""))
_LIKELY = {
    "table_id": st.sampled_from(TABLES),
    "request_id": st.sampled_from(("one", "two", "three")) | st.text("abcdef", min_size=6, max_size=12),
    "ruleset": st.sampled_from(tuple(RULESETS)),
    "card": _CARDS,
    "cards": _CARDS,
    "hand": _CARDS,
    "play": _CARDS,
    "on": _CARDS,
    "player": st.sampled_from(("an", "bo", "nobody")),
}


def message(descriptor: Descriptor) -> st.SearchStrategy[Message]:
    """Return messages of one type, each field present or not, at most one of a oneof."""
    return _fields(descriptor).map(lambda given: GetMessageClass(descriptor)(**given))


@st.composite
def _fields(draw: st.DrawFn, descriptor: Descriptor) -> dict[str, Any]:
    given = {}
    for oneof in descriptor.oneofs:
        field = draw(st.sampled_from([None, *oneof.fields]))
        if field is not None:
            given[field.name] = draw(_value(field))
    for field in descriptor.fields:
        if field.containing_oneof is None and draw(st.sampled_from((True, True, True, False))):
            given[field.name] = draw(st.lists(_value(field), max_size=4) if field.is_repeated else _value(field))
    return given


def _value(field: FieldDescriptor) -> st.SearchStrategy[Any]:
    if field.message_type is not None:
        return message(field.message_type)
    match field.cpp_type:
        case FieldDescriptor.CPPTYPE_BOOL:
            return st.booleans()
        case FieldDescriptor.CPPTYPE_STRING:
            likely = _LIKELY.get(field.name, _TEXTS)
            return st.one_of(likely, likely, likely, likely, _TEXTS)
        case FieldDescriptor.CPPTYPE_ENUM | FieldDescriptor.CPPTYPE_INT32:
            return _INTEGERS
        case other:
            raise TypeError(f"requests hold no {other}")
