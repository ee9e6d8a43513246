"""A refusal on the wire: `google.rpc.Status` with `ErrorInfo` and, for bad fields, `BadRequest` (AIP-193)."""

from collections.abc import Sequence
from dataclasses import dataclass

import grpc
from google.protobuf import any_pb2
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]
from grpc_status import rpc_status

from baohuang.rpc.errors import FieldViolation, Reason, Refusal

DOMAIN = "baohuang"
# Trailers are limited to 8 KiB by many clients; a request may hold thousands of bad fields.
MAX_VIOLATIONS = 16
MAX_TEXT = 256


@dataclass(frozen=True, slots=True)
class ErrorDetails:
    """What a client reads back from a failed call."""

    reason: Reason
    message: str
    metadata: dict[str, str]
    fields: tuple[str, ...]


def trailers(refusal: Refusal) -> tuple[tuple[str, str | bytes], ...]:
    """Encode the refusal's details as trailing metadata."""
    info = error_details_pb2.ErrorInfo(reason=refusal.reason, domain=DOMAIN, metadata=refusal.metadata)
    status = status_pb2.Status(code=refusal.code.value[0], message=text(refusal), details=[_any(info)])
    if refusal.violations:
        bad = error_details_pb2.BadRequest()
        for violation in violations(refusal):
            bad.field_violations.add(field=violation.field, description=violation.description)
        status.details.append(_any(bad))
    encoded: tuple[tuple[str, str | bytes], ...] = rpc_status.to_status(status).trailing_metadata
    return encoded


def text(refusal: Refusal) -> str:
    """Give the message, cut to MAX_TEXT characters."""
    return refusal.message[:MAX_TEXT]


def violations(refusal: Refusal) -> Sequence[FieldViolation]:
    """Give the bad fields, MAX_VIOLATIONS at most, their texts cut to MAX_TEXT characters."""
    return [
        FieldViolation(violation.field[:MAX_TEXT], violation.description[:MAX_TEXT])
        for violation in refusal.violations[:MAX_VIOLATIONS]
    ]


def read_details(error: grpc.aio.AioRpcError) -> ErrorDetails | None:
    """Give the details of a failed call, or None when it did not come from this project's servers.

    A reason this client does not know yet reads as INTERNAL.
    """
    status = rpc_status.from_call(error)  # type: ignore[arg-type] # has all that is read of a Call
    info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    if status is None or not any(detail.Unpack(info) for detail in status.details) or info.domain != DOMAIN:
        return None
    any(detail.Unpack(bad) for detail in status.details)
    reason = Reason.__members__.get(info.reason, Reason.INTERNAL)
    fields = tuple(violation.field for violation in bad.field_violations)
    return ErrorDetails(reason, status.message, dict(info.metadata), fields)


def _any(message: Message) -> any_pb2.Any:
    packed = any_pb2.Any()
    packed.Pack(message)
    return packed
