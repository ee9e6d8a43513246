"""Calls as spans of the trace that their caller goes on with, where traces are wanted.

A call with one request and one response is a span as long as it lasts. Of one with a stream only the opening is: a
stream lasts for an hour, and what comes over it has spans of its own, or is no part of the work it was opened for.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import grpc
from opentelemetry.trace import Span, SpanKind

from baohuang.rpc.call import Call
from baohuang.rpc.errors import Refusal
from baohuang.tracing import carried, spans

Context = grpc.aio.ServicerContext[Any, Any]
Behaviour = Callable[[Any, Context], Awaitable[Any]]
Admit = Callable[[str, Context], Call | None]


def traced(method: str, behaviour: Behaviour) -> Behaviour:
    """Return a method with one request and one response as a span for each call of it."""

    async def in_a_span(request: Any, context: Context) -> Any:
        with spans.around(_begun(method, context)):
            return await behaviour(request, context)

    return in_a_span


def traced_opening(admit: Admit) -> Admit:
    """Return what admits streams with a span for the opening of each, which ends before anything comes over it."""

    def in_a_span(method: str, context: Context) -> Call | None:
        with spans.around(_begun(method, context)) as span:
            try:
                return admit(method, context)
            except Refusal as refusal:
                note_refusal(span, refusal)
                raise

    return in_a_span


def note_refusal(span: Span | None, refusal: Refusal) -> None:
    """Note what a call was refused for, if it is a span: the reason, and nothing of the text."""
    if span is not None:
        spans.refused(span, refusal.reason, refusal.code.value[0])


def _begun(method: str, context: Context) -> Span:
    parent = carried.parent_in(context.invocation_metadata() or ())
    return spans.begun(method.removeprefix("/"), parent, SpanKind.SERVER, {"rpc.system": "grpc"})
