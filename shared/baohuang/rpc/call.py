"""The call being served, for handlers and log lines.

grpc.aio runs every call in a task of its own, so a context variable set at its start is the call's own, and costs
less than wrapping the servicer context.
"""

from contextvars import ContextVar
from dataclasses import dataclass

from baohuang.rpc.auth import Caller


@dataclass(frozen=True, slots=True)
class Call:
    """A call: its full method name, such as `/baohuang.table.v1.TableService/Act`, and who makes it."""

    method: str
    caller: Caller


CALL: ContextVar[Call] = ContextVar("baohuang_call")


def current_caller() -> Caller:
    """Give the caller of the call being served. Raises LookupError outside one, and in health and reflection."""
    return CALL.get().caller
