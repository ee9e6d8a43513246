"""What came of a command that was one of several: the same words whichever way it came."""

import asyncio

import structlog

from baohuang.gen.table.v1 import play_pb2
from baohuang.rpc.errors import Refusal
from baohuang.rpc.interceptor import InternalRefusal
from baohuang.rpc.status import text, violations
from baohuang.rules.commands import OpenTable
from table_service.request import Done, Request

_log = structlog.get_logger("table_service")


def answer_to(request: Request, task: "asyncio.Task[Done]") -> play_pb2.Accepted | play_pb2.Refused:
    """Return the answer to a command that is settled. What nobody expects is a bug, and refused as one."""
    error = task.exception()
    if error is None:
        done = task.result()
        return play_pb2.Accepted(
            request_id=request.request_id, table_id=done.table_id, version=done.version, hash=done.hash
        )
    if not isinstance(error, Refusal):
        _log.error("command failed", table_id=request.table_id, exc_info=error)
        error = InternalRefusal()
    table_id = "" if isinstance(request.action, OpenTable) else request.table_id
    return refused(request.request_id, table_id, error)


def refused(request_id: str, table_id: str, refusal: Refusal) -> play_pb2.Refused:
    """Return the answer to a command or a Watch that was refused, as the unary call's status would have it."""
    return play_pb2.Refused(
        request_id=request_id,
        table_id=table_id,
        code=refusal.code.value[0],
        reason=refusal.reason,
        message=text(refusal),
        metadata=refusal.metadata,
        field_violations=(
            play_pb2.FieldViolation(field=one.field, description=one.description) for one in violations(refusal)
        ),
    )
