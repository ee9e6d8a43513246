"""What a handler raises to refuse a call; one place maps it to a gRPC status (`interceptor`, `status`).

    Refusal                   what the client is told: reason, message, metadata
    ├── MalformedInput        INVALID_ARGUMENT     whatever the state; names the bad fields
    ├── WrongState            FAILED_PRECONDITION  not in this state of the table
    │   └── IllegalMove       FAILED_PRECONDITION  forbidden by a clause of the rules, which it names
    ├── StaleVersion          ABORTED              `expected_version` is past; decide again
    ├── NotFound              NOT_FOUND
    ├── PermissionDenied      PERMISSION_DENIED    known caller, not allowed
    ├── Unauthenticated       UNAUTHENTICATED      unknown caller
    ├── Exhausted             RESOURCE_EXHAUSTED   too many calls, or too slow a reader
    └── Unavailable           UNAVAILABLE          retry: draining, or the log does not answer

Anything else that leaves a handler is a bug: the client gets INTERNAL and nothing of its text.
"""

# ruff: noqa: N818 - named after what is wrong, as in the tree above
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import grpc

from baohuang.rpc.reason import Reason

__all__ = [
    "Exhausted",
    "FieldViolation",
    "IllegalMove",
    "MalformedInput",
    "NotFound",
    "PermissionDenied",
    "Reason",
    "Refusal",
    "StaleVersion",
    "Unauthenticated",
    "Unavailable",
    "WrongState",
]

_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """A bad field of a request. `field` is its proto path, such as `action.play.cards[3]`."""

    field: str
    description: str


class Refusal(Exception):
    """Base of the tree; raise a subclass.

    `message` is for a human and may be shown; `metadata` goes into `ErrorInfo.metadata`. Neither may hold anything
    that the caller is not entitled to know.
    """

    code: ClassVar[grpc.StatusCode]

    def __init__(self, reason: Reason, message: str, metadata: Mapping[str, str] = _NOTHING) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.metadata = metadata

    @property
    def violations(self) -> Sequence[FieldViolation]:
        """The bad fields; empty unless the input is malformed."""
        return ()


class MalformedInput(Refusal):
    """The request is wrong in any state of the table."""

    code = grpc.StatusCode.INVALID_ARGUMENT

    def __init__(
        self,
        message: str,
        *violations: FieldViolation,
        reason: Reason = Reason.INVALID_FIELD,
        metadata: Mapping[str, str] = _NOTHING,
    ) -> None:
        super().__init__(reason, message, metadata)
        self._violations = violations

    @classmethod
    def field(cls, field: str, description: str, reason: Reason = Reason.INVALID_FIELD) -> "MalformedInput":
        """Build the refusal of one field."""
        return cls(f"{field}: {description}", FieldViolation(field, description), reason=reason)

    @property
    def violations(self) -> Sequence[FieldViolation]:
        """The bad fields, in the request's order."""
        return self._violations


class WrongState(Refusal):
    """The table is not in a state that allows the call."""

    code = grpc.StatusCode.FAILED_PRECONDITION


class IllegalMove(WrongState):
    """A move that a clause of the rules forbids; the clause's id becomes metadata `rule`, beside any other."""

    def __init__(self, reason: Reason, message: str, rule: str, metadata: Mapping[str, str] = _NOTHING) -> None:
        super().__init__(reason, message, {"rule": rule, **metadata})


class StaleVersion(Refusal):
    """The caller's `expected_version` is not the table's; metadata `version` tells the current one."""

    code = grpc.StatusCode.ABORTED

    def __init__(self, expected: int, current: int) -> None:
        message = f"expected version {expected}, the table is at {current}"
        super().__init__(Reason.STALE_VERSION, message, {"version": str(current)})


class NotFound(Refusal):
    """What the request names does not exist, or the caller may not know that it does."""

    code = grpc.StatusCode.NOT_FOUND


class PermissionDenied(Refusal):
    """The caller is known and may not do this."""

    code = grpc.StatusCode.PERMISSION_DENIED


class Unauthenticated(Refusal):
    """The caller did not prove who it is."""

    code = grpc.StatusCode.UNAUTHENTICATED

    def __init__(self, message: str, metadata: Mapping[str, str] = _NOTHING) -> None:
        super().__init__(Reason.UNAUTHENTICATED, message, metadata)


class Exhausted(Refusal):
    """The caller asks too much of us, or reads too slowly."""

    code = grpc.StatusCode.RESOURCE_EXHAUSTED


class Unavailable(Refusal):
    """Not now; a retry with the same request id is safe."""

    code = grpc.StatusCode.UNAVAILABLE
