"""Events ↔ what is stored: the canonical proto3 JSON of the message of the same name in `baohuang/events/v1`.

    CardsPlayed(seat=1, cards=("3s", "BJ"), left=12, place=0, turn=0, automatic=False)
    "CardsPlayed", b'{"cards":["3s","BJ"],"left":12,"seat":1,"turn":0}'

Names are lowerCamelCase, enums go by name, a field with its type's zero is left out, an optional one (`int | None`) is
there whenever it is not None; keys are sorted, so one event has one encoding. Each event class gets, once, a msgspec
struct of that form, made from its annotations.

History outlives its writer. A key that this release does not know is passed over (a newer one wrote it), a missing one
is the zero of its type (an older one did); so a field added to an event must mean "as before" by its zero, and an enum
or a message added must be optional. Who decides on what events say must not pass over what he does not know: a codec
that has `Unknown.REFUSED` raises MalformedEventError for such a key.

    CodecError
    ├── UnknownEventTypeError    no such event in this release
    └── MalformedEventError      not the JSON of such an event; or a number or text that no message can hold
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum, auto
from functools import cache
from types import GenericAlias, MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, Final, Generic, NewType, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

_E = TypeVar("_E")
_INT32: Final = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
_ZEROS: Final[Mapping[Any, object]] = MappingProxyType(
    {int: 0, bool: False, str: "", tuple: (), UnionType: None, Union: None}
)
"""What stands for a missing key, by kind of annotation. Enums and messages have none: they are always written."""


class CodecError(ValueError):
    """An event that cannot be written, or stored data that cannot be read."""


class UnknownEventTypeError(CodecError):
    """There is no event of that type in this release."""


class MalformedEventError(CodecError):
    """The data is not that of an event of its type; or the event holds what no message can (2^31, a lone surrogate)."""


class Unknown(Enum):
    """What becomes of a key that this release does not know."""

    PASSED_OVER = auto()
    REFUSED = auto()


@dataclass(frozen=True, slots=True)
class _Form:
    """How one class of events is written and read."""

    event_class: type[Any]
    twin: type[msgspec.Struct]
    decoder: msgspec.json.Decoder[msgspec.Struct]


class Codec(Generic[_E]):
    """Writes and reads the events of some classes, which are told apart by their names.

    A class with a field that has no place in an event raises TypeError at its first use, not before: all forms of all
    classes are made in tests/contract/test_forms.py.
    """

    def __init__(self, classes: Mapping[str, type[Any]], unknown: Unknown = Unknown.PASSED_OVER) -> None:
        """Take the classes by name."""
        self._classes: Final = classes
        self._unknown: Final = unknown
        self._forms: Final[dict[str, _Form]] = {}

    def encode(self, event: _E) -> tuple[str, bytes]:
        """Return the event's type and its data, UTF-8.

        Raises MalformedEventError for a number beyond int32 or a lone surrogate, UnknownEventTypeError for no event of
        these.
        """
        name = type(event).__name__
        form = self._form(name)
        try:
            return name, _encode(msgspec.convert(event, form.twin, from_attributes=True))
        except (msgspec.ValidationError, UnicodeEncodeError) as error:
            raise MalformedEventError(f"{name}: {error}") from error

    def decode(self, event_type: str, data: bytes) -> _E:
        """Return the event stored as that type with that data; its keys may come in any order.

        Raises UnknownEventTypeError, MalformedEventError.
        """
        form = self._form(event_type)
        try:
            event: _E = msgspec.convert(form.decoder.decode(data), form.event_class, from_attributes=True)
        except msgspec.DecodeError as error:
            raise MalformedEventError(f"{event_type}: {error}") from error
        return event

    def json_form(self, event_type: str) -> type[msgspec.Struct]:
        """Return the struct that describes the JSON of a type of events. Raises UnknownEventTypeError."""
        return self._form(event_type).twin

    def _form(self, event_type: str) -> _Form:
        """Return how a type is written and read: made when it is first asked for, since all cost a start its time."""
        form = self._forms.get(event_type)
        if form is None:
            form = self._forms[event_type] = self._made(event_type)
        return form

    def _made(self, event_type: str) -> _Form:
        event_class = self._classes.get(event_type)
        if event_class is None:
            raise UnknownEventTypeError(f"there is no event of type {event_type!r} in this release")
        return _form_of(event_class, self._unknown)


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(word.capitalize() for word in tail)


@cache
def _twin(cls: type, unknown: Unknown) -> type[msgspec.Struct]:
    """Return the struct that is written for a dataclass: its fields in the order of their names in JSON."""
    hints = get_type_hints(cls)
    ordered = sorted((field.name for field in fields(cls)), key=_camel)
    return msgspec.defstruct(
        cls.__name__,
        [_twin_field(name, hints[name], unknown) for name in ordered],
        rename=_camel,
        omit_defaults=True,
        kw_only=True,
        forbid_unknown_fields=unknown is Unknown.REFUSED,
    )


def _twin_field(name: str, annotation: Any, unknown: Unknown) -> tuple[str, Any] | tuple[str, Any, object]:
    bare = _bare(annotation)
    kind = get_origin(bare) or bare
    written = _written(bare, unknown)
    return (name, written, _ZEROS[kind]) if kind in _ZEROS else (name, written)


def _written(annotation: Any, unknown: Unknown) -> Any:
    """Return the type in JSON of an annotation; TypeError for one that has no place in an event."""
    bare = _bare(annotation)
    match get_origin(bare), get_args(bare):
        case origin, (inner, none) if origin in {UnionType, Union} and none is NoneType:
            return _written(inner, unknown) | None
        case origin, (inner, dots) if origin is tuple and dots is Ellipsis:
            return GenericAlias(tuple, (_written(inner, unknown), ...))
    if is_dataclass(bare) and isinstance(bare, type):
        return _twin(bare, unknown)
    if bare is int:
        return _INT32
    if bare in {bool, str} or issubclass(bare, Enum):
        return bare
    raise TypeError(f"an event holds no {annotation}")


def _bare(annotation: Any) -> Any:
    while isinstance(annotation, NewType):
        annotation = annotation.__supertype__
    return annotation


def _form_of(event_class: type[Any], unknown: Unknown) -> _Form:
    twin = _twin(event_class, unknown)  # type: ignore[arg-type] # a class is hashable, though mypy doubts it
    return _Form(event_class, twin, msgspec.json.Decoder(twin))


_encode: Final = msgspec.json.Encoder().encode
