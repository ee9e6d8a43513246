"""What the client raises.

    ClientError
    ├── RefusedError             the service said no: reason, rule, message, bad fields
    │   ├── MoveRefusedError     FAILED_PRECONDITION  not in this state of the table or the queue; `rule` is the clause
    │   ├── MalformedError       INVALID_ARGUMENT     the request is wrong; `violations` say where
    │   ├── StaleError           ABORTED              the table is past `expected_version`
    │   ├── NotFoundError        NOT_FOUND
    │   ├── NotAllowedError      PERMISSION_DENIED    not your seat, not your right
    │   ├── NotKnownError        UNAUTHENTICATED      the credentials are missing or not valid
    │   └── SlowDownError        RESOURCE_EXHAUSTED   too many calls
    ├── TakenOverError           the player of a seat opened another stream of the table, which goes on instead
    ├── UnreachableError         no answer, however often asked: a command may or may not be stored
    ├── FaultError               the service failed with a bug of its own, or with a status nobody documented
    └── ViewBrokenError          what the service sent does not fit together: a version or a hash is not the one due

After UnreachableError the call may be made again with the same `request_id`, its attribute: it is carried out once.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

import grpc
from google.rpc import error_details_pb2  # type: ignore[import-untyped]
from grpc_status import rpc_status

from baohuang.eventlog.port import RequestId
from baohuang.rpc.errors import FieldViolation
from baohuang.rpc.rate_limit import RETRY_AFTER_KEY
from baohuang.rpc.status import DOMAIN

_NO_REQUEST: Final = RequestId("")
TRANSIENT: Final = frozenset(
    {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED},
)
"""Codes after which the same request may be sent again. CANCELLED is the other side's doing: a server that stopped, or
a connection that reached its age; our own cancellation is an exception, no status."""


class ClientError(Exception):
    """Root of everything the client raises."""


class RefusedError(ClientError):
    """The service refused the call, and nothing came of it.

    `reason` is the name of an `ErrorReason` of the contract (newer ones than this client's included), `rule` a clause
    id or "", `metadata` what else the reason documents.
    """

    def __init__(self, refusal: "Refusal") -> None:
        super().__init__(f"{refusal.reason}: {refusal.message}")
        self.reason = refusal.reason
        self.message = refusal.message
        self.metadata = refusal.metadata
        self.violations = refusal.violations

    @property
    def rule(self) -> str:
        """The id of the clause that forbids it, "" if none does."""
        return self.metadata.get("rule", "")


class MoveRefusedError(RefusedError):
    """Not in this state of the table, or of the queue: bring your view up to date and decide again."""


class MalformedError(RefusedError):
    """The request is wrong whatever the state; `violations` name the fields.

    The client raises it itself for what no message can hold, such as a number beyond its field's range.
    """


class StaleError(RefusedError):
    """The table is past the version that was expected; metadata `version` is its own."""


class NotFoundError(RefusedError):
    """What the request names does not exist, or is not yours to know of."""


class NotAllowedError(RefusedError):
    """Known, but not allowed."""


class NotKnownError(RefusedError):
    """The credentials are missing or not valid."""


class SlowDownError(RefusedError):
    """Too many calls: wait, then try again with the same request id."""

    @property
    def retry_after_seconds(self) -> float:
        """How long to wait at least; 0.0 if the service does not say."""
        milliseconds = self.metadata.get(RETRY_AFTER_KEY, "")
        return int(milliseconds) / 1000 if milliseconds.isdecimal() else 0.0


class UnreachableError(ClientError):
    """No attempt was answered. `request_id` is that of the command, "" for a call that changes nothing."""

    def __init__(self, why: str, request_id: RequestId = _NO_REQUEST) -> None:
        super().__init__(why)
        self.request_id = request_id


class TakenOverError(ClientError):
    """The player of a seat watches the table on a newer stream: this one is over, and to open it again is a fight."""

    def __init__(self, version: int) -> None:
        super().__init__(f"another stream took over after version {version}")
        self.version = version


class FaultError(ClientError):
    """The service failed with a bug, or with a status the contract does not know."""


class ViewBrokenError(ClientError):
    """An update is not the one due, by its version or by the chain of hashes: the stream or the log was changed."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a refused call carries (AIP-193)."""

    reason: str
    message: str
    metadata: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    violations: tuple[FieldViolation, ...] = ()


_BY_CODE: Final[Mapping[grpc.StatusCode, type[RefusedError]]] = MappingProxyType(
    {
        grpc.StatusCode.FAILED_PRECONDITION: MoveRefusedError,
        grpc.StatusCode.INVALID_ARGUMENT: MalformedError,
        grpc.StatusCode.ABORTED: StaleError,
        grpc.StatusCode.NOT_FOUND: NotFoundError,
        grpc.StatusCode.PERMISSION_DENIED: NotAllowedError,
        grpc.StatusCode.UNAUTHENTICATED: NotKnownError,
        grpc.StatusCode.RESOURCE_EXHAUSTED: SlowDownError,
    },
)


def is_passing(failed: grpc.aio.AioRpcError) -> bool:
    """Tell whether the same request may be sent again after this.

    INTERNAL without the service's own details is grpc's word for a call that broke on its way.
    """
    broken = failed.code() is grpc.StatusCode.INTERNAL and not reason_of(failed)
    return broken or failed.code() in TRANSIENT


def error_of(failed: grpc.aio.AioRpcError, request_id: RequestId = _NO_REQUEST) -> ClientError:
    """Return what to raise for a failed call."""
    if is_passing(failed):
        return UnreachableError(f"{failed.code().name}: {failed.details()}", request_id)
    kind = _BY_CODE.get(failed.code())
    refusal = _refusal(failed)
    if kind is None or refusal is None:
        return FaultError(f"{failed.code().name}: {failed.details()}")
    return kind(refusal)


def refused_with(code: int, refusal: "Refusal") -> ClientError:
    """Return what to raise for a refusal that came as a message, with the number of its status code."""
    kind = next((kind for status, kind in _BY_CODE.items() if status.value[0] == code), None)
    return FaultError(f"{refusal.reason}: {refusal.message}") if kind is None else kind(refusal)


def reason_of(failed: grpc.aio.AioRpcError) -> str:
    """Return the reason that the service gave, "" if the status is not its own."""
    refusal = _refusal(failed)
    return refusal.reason if refusal else ""


def _refusal(failed: grpc.aio.AioRpcError) -> Refusal | None:
    status = rpc_status.from_call(failed)  # type: ignore[arg-type] # has all that is read of a Call
    info = error_details_pb2.ErrorInfo()
    if status is None or not any(detail.Unpack(info) for detail in status.details) or info.domain != DOMAIN:
        return None
    return Refusal(info.reason, status.message, dict(info.metadata), tuple(_violations(status.details)))


def _violations(details: Iterable[object]) -> Iterable[FieldViolation]:
    bad = error_details_pb2.BadRequest()
    for detail in details:
        if detail.Unpack(bad):  # type: ignore[attr-defined] # google.protobuf.Any, from an untyped package
            yield from (FieldViolation(violation.field, violation.description) for violation in bad.field_violations)
