"""The call being served, for handlers and log lines.

grpc.aio runs every call in a task of its own, so a context variable set at its start is the call's own, and costs
less than wrapping the servicer context.
"""

import asyncio
from contextvars import ContextVar

from baohuang.rpc.auth import Caller
from baohuang.rpc.errors import Refusal


class Call:
    """A call: its full method name, such as `/baohuang.table.v1.TableService/Act`, and who makes it.

    To be made in the task that serves it.
    """

    __slots__ = ("_task", "caller", "cut_by", "method")

    def __init__(self, method: str, caller: Caller) -> None:
        self.method = method
        self.caller = caller
        self.cut_by: Refusal | None = None
        self._task = asyncio.current_task()

    def cut(self, refusal: Refusal) -> None:
        """End the call with a refusal, from outside of its handler and whatever that waits for."""
        if self.cut_by is None and self._task is not None:
            self.cut_by = refusal
            self._task.cancel()


CALL: ContextVar[Call] = ContextVar("baohuang_call")


def current_call() -> Call:
    """Give the call being served. Raises LookupError outside one, and in health and reflection."""
    return CALL.get()


def current_caller() -> Caller:
    """Give the caller of the call being served. Raises LookupError outside one, and in health and reflection."""
    return CALL.get().caller
