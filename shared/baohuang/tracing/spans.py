"""Spans around parts of the work, begun only inside a trace that is sampled.

What stands in one: ids, positions, outcomes and reasons. Never what an exception says, nor anything of a command but
its ids: what is hidden at the table must not be found in a trace.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Final

from opentelemetry.context import Context
from opentelemetry.trace import (
    Link,
    ProxyTracerProvider,
    Span,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    get_current_span,
    get_tracer,
    get_tracer_provider,
    use_span,
)
from opentelemetry.util.types import AttributeValue

from baohuang.tracing import carried

_NAME: Final = "baohuang"
TABLE_ID: Final = "baohuang.table_id"
REQUEST_ID: Final = "baohuang.request_id"
POSITION: Final = "baohuang.position"
OUTCOME: Final = "baohuang.outcome"
REASON: Final = "baohuang.reason"
NUMBER: Final = "baohuang.number"
COMMANDS: Final = "baohuang.commands"
MESSAGES: Final = "baohuang.messages"
STATUS_CODE: Final = "rpc.grpc.status_code"
_NOTHING: Final = nullcontext()
_tracer: Final = get_tracer(_NAME)


def wanted() -> bool:
    """Tell whether this process tells traces; to be asked once it has been set up."""
    return not isinstance(get_tracer_provider(), ProxyTracerProvider)


def sampled() -> Span | None:
    """Return the current span; None outside of a trace, and in one that is not sampled."""
    span = get_current_span()
    return span if span.is_recording() else None


def begun(
    name: str,
    parent: Context,
    kind: SpanKind,
    attributes: dict[str, AttributeValue] | None = None,
    *,
    links: Sequence[SpanContext] = (),
    since: int | None = None,
) -> Span:
    """Begin a span, which the caller ends; it is the current one nowhere yet.

    `since` is when it began, in nanoseconds of `time.time_ns`; None: now.
    """
    return _tracer.start_span(name, parent, kind, attributes, [Link(one) for one in links], since)


def within(span: Span | None) -> AbstractContextManager[Span | None]:
    """Have a span be the current one, without ending it."""
    if span is None:
        return _NOTHING
    return use_span(span, record_exception=False, set_status_on_exception=False)


def around(span: Span) -> AbstractContextManager[Span]:
    """Have a span be the current one, and end it with the block."""
    return use_span(span, end_on_exit=True, record_exception=False, set_status_on_exception=False)


def step(name: str) -> AbstractContextManager[Span | None]:
    """Time a step of what is under way; None outside of a sampled trace, where nothing is done."""
    if sampled() is None:
        return _NOTHING
    return _tracer.start_as_current_span(name, record_exception=False, set_status_on_exception=False)


def joint(name: str, causes: Sequence[SpanContext], count: str, number: int) -> AbstractContextManager[Span | None]:
    """Time what is done once for many: in the trace of the first of the causes, linked to all of them.

    `number` stands in it as the attribute `count`: how many there were, those without a trace too. Without causes
    nothing is done.
    """
    if not causes:
        return _NOTHING
    return around(begun(name, carried.parent(causes[0]), SpanKind.INTERNAL, {count: number}, links=causes))


def refused(span: Span | None, reason: str, code: int) -> None:
    """Note that what the span times was refused, with the reason and the status code of gRPC."""
    if span is not None:
        span.set_attributes({REASON: reason, STATUS_CODE: code})


def failed(span: Span | None) -> None:
    """Note that a bug ended what the span times."""
    if span is not None:
        span.set_status(Status(StatusCode.ERROR))
