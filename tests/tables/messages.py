"""Random messages of the contract, with likely values so that some go far, and bytes that are no such message."""

from collections.abc import Mapping, Sequence
from random import Random
from types import MappingProxyType
from typing import Any, Final

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from baohuang.rules.cards import HIDDEN, JOKERS, PLAIN
from baohuang.rules.rulesets import RULESETS

LARGEST: Final = 65_536
"""Bytes that a request may have."""
_HUGE: Final = 70_000
_DEEPEST: Final = 6
_INTEGERS: Final = (0, 1, 2, 3, 4, 5, 7, 30, -1, 100, 2**31 - 1, -(2**31))
_TEXTS: Final = (
    "", "\0", "a\0b", "皇" * 30, "x" * 5000, "'; drop table events; --", '{"a":1}', "\u202e\ufeff", "an", "%s%n",
    "x" * 64, "x" * 65, "-", "00000000-0000-0000-0000-000000000000", "𝕏", "true",
)  # fmt: skip
_CARDS: Final = (*PLAIN[:12], *JOKERS, HIDDEN, "9h", "1h", "", "9H", "9h ", "BJ**")
_LIKELY: Final[dict[str, Sequence[str]]] = {
    "ruleset": tuple(RULESETS),
    "card": _CARDS,
    "cards": _CARDS,
    "hand": _CARDS,
    "play": _CARDS,
    "on": _CARDS,
    "player": ("an", "bo", "nobody", "ghost"),
    "reason": ("a good reason", "x" * 200, "x" * 201),
}
_LIKELY_INTEGERS: Final[dict[str, Sequence[int]]] = {"emperor": range(5), "guard": range(5), "seat": range(5)}
_INTEGRAL: Final = {
    FieldDescriptor.CPPTYPE_INT32: 31,
    FieldDescriptor.CPPTYPE_ENUM: 31,
    FieldDescriptor.CPPTYPE_INT64: 63,
    FieldDescriptor.CPPTYPE_UINT32: 31,
    FieldDescriptor.CPPTYPE_UINT64: 63,
}


class AnyMessage:
    """Makes messages; `table_ids` are those of tables that there are, `likely` other texts by their field's name."""

    def __init__(
        self, dice: Random, table_ids: Sequence[str], likely: Mapping[str, Sequence[str]] = MappingProxyType({})
    ) -> None:
        self._dice = dice
        self.likely = {**_LIKELY, **likely}
        self.table_ids = list(table_ids)
        self._made = 0

    def of(self, descriptor: Descriptor, depth: int = 0) -> Message:
        """Return a message of the type, each field present or not, at most one of a oneof."""
        chosen = [self._dice.choice([None, *oneof.fields]) for oneof in descriptor.oneofs]
        plain = [field for field in descriptor.fields if field.containing_oneof is None]
        present = [field for field in plain if self._dice.random() < (0.4 if field.message_type else 0.8)]
        given = {field.name: self._value(field, depth) for field in (*chosen, *present) if field is not None}
        return GetMessageClass(descriptor)(**{name: value for name, value in given.items() if value is not None})

    def damaged(self, sound: bytes) -> bytes:
        """Return the bytes with some changed, cut, added to, in another order, or something else altogether."""
        dice, broken = self._dice, bytearray(sound)
        for _ in range(dice.randint(1, 3)):
            if broken:
                broken[dice.randrange(len(broken))] = dice.randrange(256)
        cut = dice.randint(0, len(broken))
        added = dice.randbytes(dice.randint(1, 40))
        return dice.choice((
            bytes(broken), bytes(broken[:cut]), bytes(broken[:cut]) + added, sound + added, added, sound[cut:],
            sound * 2,
        ))  # fmt: skip

    def huge(self) -> bytes:
        """Return more bytes than a request may have, well formed: one long text in the first field."""
        return b"\x0a" + _varint(_HUGE) + b"x" * _HUGE

    def _value(self, field: FieldDescriptor, depth: int) -> Any:
        if not field.is_repeated:
            return self._one(field, depth)
        if field.name == "places" and self._dice.random() < 0.7:
            return self._dice.sample(range(5), 5)
        several = [self._one(field, depth) for _ in range(self._dice.choice((0, 1, 1, 2, 3, 5, 70)))]
        return [one for one in several if one is not None]

    def _one(self, field: FieldDescriptor, depth: int) -> Any:
        dice = self._dice
        if field.message_type is not None:
            return self.of(field.message_type, depth + 1) if depth < _DEEPEST else None
        if field.cpp_type in _INTEGRAL:
            return self._integer(field)
        match field.cpp_type:
            case FieldDescriptor.CPPTYPE_BOOL:
                return dice.random() < 0.5
            case FieldDescriptor.CPPTYPE_STRING if field.type == FieldDescriptor.TYPE_BYTES:
                return dice.randbytes(dice.choice((0, 1, 32, 300)))
            case FieldDescriptor.CPPTYPE_STRING:
                return self._text(field.name)
            case other:
                raise TypeError(f"requests hold no {other}")

    def _integer(self, field: FieldDescriptor) -> int:
        unsigned = field.cpp_type in {FieldDescriptor.CPPTYPE_UINT32, FieldDescriptor.CPPTYPE_UINT64}
        if self._dice.random() < 0.2:
            value = self._dice.getrandbits(_INTEGRAL[field.cpp_type])
        else:
            value = self._dice.choice(_LIKELY_INTEGERS.get(field.name, _INTEGERS))
        return abs(value) if unsigned else value

    def _text(self, name: str) -> str:
        dice = self._dice
        if dice.random() < 0.12:
            return dice.choice(_TEXTS)
        if name.endswith("table_id"):
            return dice.choice(self.table_ids)
        if name == "request_id":
            self._made += 1
            return dice.choice(("one", "two")) if dice.random() < 0.1 else f"r-{self._made}"
        return dice.choice(self.likely.get(name, _TEXTS))


def _varint(number: int) -> bytes:
    low, rest = number & 0x7F, number >> 7
    return bytes((low | 0x80,)) + _varint(rest) if rest else bytes((low,))
