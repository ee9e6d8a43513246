"""Dataclasses of the rules ↔ messages of the contract, by introspection: same class name or not, same field names.

How a field is mapped follows from its annotation:

    int, bool, str and NewTypes of them     the scalar
    an enum                                 the enum value whose name is the member's value
    a dataclass                             a message
    X | None                                presence; inside a tuple, of an enum, the value of number 0
    tuple[X, ...]                           repeated
    tuple[tuple[X, ...], ...]               repeated messages with one repeated field

Fields that only the message has are left alone, so a view may carry more than its dataclass. A field that the message
lacks, or an enum member without a value, is a bug and a TypeError. Each pair of class and message is compiled once.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import cache
from operator import attrgetter
from types import UnionType
from typing import Any, Final, NewType, TypeVar, Union, get_args, get_origin, get_type_hints

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from baohuang.gen.rules.v1 import ruleset_pb2
from baohuang.rules.rulesets import BOUNDS, Options

_M = TypeVar("_M", bound=Message)
_T = TypeVar("_T")
_Convert = Callable[[Any], Any]
_UNIONS: Final = (UnionType, Union)
"""What `X | None` is: the second where X is a NewType."""
_DEFAULTS: Final = Options()


class UnmappableError(ValueError):
    """A message that is no such dataclass: an enum that is unset or newer than these stubs, or an unset oneof.

    `field` is the path to it in the message, such as `answer_seize.answer`.
    """

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}")
        self.field = field
        self.why = why

    def inside(self, parent: str) -> "UnmappableError":
        """Return the same error as seen from the message around it."""
        return UnmappableError(f"{parent}.{self.field}", self.why)


def to_proto(obj: object, message_class: type[_M]) -> _M:
    """Return the dataclass as a message. Raises ValueError for a number or text that the message cannot hold."""
    kind: Any = type(obj)  # mypy takes no type[...] for hashable, here and below
    return message_class(**_writer(kind, message_class.DESCRIPTOR)(obj))


def from_proto(message: Message, dataclass: type[_T]) -> _T:
    """Return the message as the dataclass; an absent message within it reads as an empty one.

    Raises UnmappableError.
    """
    kind: Any = dataclass
    made: _T = _reader(kind, message.DESCRIPTOR)(message)
    return made


def choice_to_proto(obj: object, message_class: type[_M], oneof: str) -> _M:
    """Return a message whose `oneof` holds the dataclass, in the field of the message type of the same name."""
    kind: Any = type(obj)
    field = _choices(message_class.DESCRIPTOR, oneof)[kind.__name__]
    return message_class(**{field.name: _writer(kind, _message_type(field))(obj)})


def choice_from_proto(message: Message, oneof: str, classes: Mapping[str, type[_T]]) -> _T:
    """Return what `oneof` of the message holds, as one of the `classes`, which are given by name.

    Raises UnmappableError if it is not set.
    """
    name = message.WhichOneof(oneof)
    if name is None:
        raise UnmappableError(oneof, "is not set")
    chosen = getattr(message, name)
    try:
        return from_proto(chosen, classes[chosen.DESCRIPTOR.name])
    except UnmappableError as error:
        raise error.inside(name) from None


def requested_options(message: ruleset_pb2.Options) -> Options:
    """Return the options of a request, in which 0 stands for the default. Bounds are not checked."""
    options = from_proto(message, Options)
    unset = {name: getattr(_DEFAULTS, name) for name in BOUNDS if not getattr(options, name)}
    return replace(options, **unset)


@cache
def _choices(descriptor: Descriptor, oneof: str) -> Mapping[str, FieldDescriptor]:
    return {_message_type(field).name: field for field in descriptor.oneofs_by_name[oneof].fields}


@cache
def _writer(cls: Any, descriptor: Descriptor) -> _Convert:
    """Return what makes the keyword arguments of the message from the dataclass."""
    steps = [(name, _to(annotation, field)) for name, annotation, field in _pairs(cls, descriptor)]

    def write(obj: object) -> dict[str, Any]:
        given = {}
        for name, convert in steps:
            value = getattr(obj, name)
            if value is not None:
                given[name] = value if convert is None else convert(value)
        return given

    return write


@cache
def _reader(cls: Any, descriptor: Descriptor) -> _Convert:
    """Return what makes the dataclass from the message."""
    steps = tuple(_reading(annotation, field) for _, annotation, field in _pairs(cls, descriptor))

    def read(message: Message) -> Any:
        return cls(*[step(message) for step in steps])

    return read


def _pairs(cls: type, descriptor: Descriptor) -> Iterable[tuple[str, Any, FieldDescriptor]]:
    """Give name, annotation without NewTypes, and message field for each field of the dataclass."""
    hints = get_type_hints(cls)
    for field in fields(cls):
        if field.name not in descriptor.fields_by_name:
            raise TypeError(f"{descriptor.full_name} has no field {field.name}")
        yield field.name, _bare(hints[field.name]), descriptor.fields_by_name[field.name]


def _bare(annotation: Any) -> Any:
    while isinstance(annotation, NewType):
        annotation = annotation.__supertype__
    return annotation


def _item(annotation: Any) -> Any:
    """Return X of `X | None` and of `tuple[X, ...]`."""
    return _bare(get_args(annotation)[0])


def _message_type(field: FieldDescriptor) -> Descriptor:
    if field.message_type is None:
        raise TypeError(f"{field.full_name} is no message")
    return field.message_type


def _only_field(field: FieldDescriptor) -> FieldDescriptor:
    """Return the one field of the message that stands for a list inside a list."""
    (only,) = _message_type(field).fields
    return only


def _to(annotation: Any, field: FieldDescriptor) -> _Convert | None:
    """Return what turns a value that is not None into what the message takes; None if it takes it as it is."""
    if get_origin(annotation) in _UNIONS:
        return _to(_item(annotation), field)
    if get_origin(annotation) is tuple:
        return _to_repeated(_item(annotation), field)
    if is_dataclass(annotation) and isinstance(annotation, type):
        return _writer(annotation, _message_type(field))
    return _numbers(annotation, field).__getitem__ if issubclass(annotation, Enum) else None


def _to_repeated(item: Any, field: FieldDescriptor) -> _Convert | None:
    if get_origin(item) is tuple:
        inner, name = _to(item, _only_field(field)), _only_field(field).name
        return lambda values: [{name: value if inner is None else inner(value)} for value in values]
    if get_origin(item) in _UNIONS:
        numbers: dict[Any, int] = {None: 0, **_numbers(_item(item), field)}
        return lambda values: [numbers[value] for value in values]
    convert = _to(item, field)
    return convert and (lambda values: [convert(value) for value in values])


def _reading(annotation: Any, field: FieldDescriptor) -> _Convert:
    """Return what reads the field's value out of the message."""
    name = field.name
    if get_origin(annotation) in _UNIONS:
        read = _reading(_item(annotation), field)
        return lambda message: read(message) if message.HasField(name) else None
    repeated = get_origin(annotation) is tuple
    convert = _from_repeated(_item(annotation), field) if repeated else _from(annotation, field)
    return attrgetter(name) if convert is None else _located(name, convert)


def _located(name: str, convert: _Convert) -> _Convert:
    def read(message: Message) -> Any:
        try:
            return convert(getattr(message, name))
        except UnmappableError as error:
            raise error.inside(name) from None
        except KeyError as error:
            raise UnmappableError(name, f"unset, or not known here ({error})") from None

    return read


def _from(annotation: Any, field: FieldDescriptor) -> _Convert | None:
    """Return what turns one value of the message into that of the dataclass; None if it is the same."""
    if is_dataclass(annotation) and isinstance(annotation, type):
        return _reader(annotation, _message_type(field))
    return _members(annotation, field).__getitem__ if issubclass(annotation, Enum) else None


def _from_repeated(item: Any, field: FieldDescriptor) -> _Convert:
    if get_origin(item) is tuple:
        inner = _reading(item, _only_field(field))
        return lambda values: tuple([inner(value) for value in values])
    if get_origin(item) in _UNIONS:
        members: dict[int, Any] = {0: None, **_members(_item(item), field)}
        return lambda values: tuple([members[value] for value in values])
    convert = _from(item, field)
    return tuple if convert is None else lambda values: tuple([convert(value) for value in values])


def _numbers(enum: type[Enum], field: FieldDescriptor) -> dict[Enum, int]:
    if field.enum_type is None:
        raise TypeError(f"{field.full_name} is no enum")
    values = field.enum_type.values_by_name
    missing = [member.value for member in enum if member.value not in values]
    if missing:
        raise TypeError(f"{field.enum_type.full_name} has no {', '.join(missing)}")
    return {member: values[member.value].number for member in enum}


def _members(enum: type[Enum], field: FieldDescriptor) -> dict[int, Enum]:
    return {number: member for member, number in _numbers(enum, field).items()}
