"""Making requests: what a message cannot hold is refused here, as the service would refuse it.

A number beyond the field's range, half of a surrogate pair: neither can be sent, so the service is not asked.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from google.protobuf.message import Message

from baohuang.client.errors import MalformedError, Refusal
from baohuang.rpc.errors import FieldViolation
from baohuang.rpc.messages import choice_to_proto, to_proto
from baohuang.rpc.reason import Reason

_M = TypeVar("_M", bound=Message)


def made(kind: type[_M], /, **fields: Any) -> _M:
    """Return a message of its fields. Raises MalformedError, which names the field."""
    try:
        return kind(**fields)
    except ValueError:
        for name, value in fields.items():
            with _holding(name):
                kind(**{name: value})
        raise


def part(obj: object, kind: type[_M], field: str) -> _M:
    """Return a dataclass as the message that a field of a request holds. Raises MalformedError, which names it."""
    with _holding(field):
        return to_proto(obj, kind)


def chosen(obj: object, kind: type[_M], oneof: str) -> _M:
    """Return a request whose `oneof` holds a dataclass. Raises MalformedError, which names it."""
    with _holding(oneof):
        return choice_to_proto(obj, kind, oneof)


def malformed(field: str, description: str) -> MalformedError:
    """Return the refusal of a field."""
    violation = FieldViolation(field, description)
    return MalformedError(Refusal(Reason.INVALID_FIELD, f"{field}: {description}", violations=(violation,)))


@contextmanager
def _holding(field: str) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        text = "text" if isinstance(error, UnicodeError) else "a number"
        raise malformed(field, f"is {text} that no request can hold") from error
