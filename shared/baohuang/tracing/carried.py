"""A trace on its way from one process to another: the header `traceparent` of W3C's Trace Context."""

from collections.abc import Iterable
from typing import Final

from opentelemetry.context import Context
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    TraceFlags,
    get_current_span,
    set_span_in_context,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

TRACEPARENT: Final = "traceparent"
_KEYS: Final = frozenset((TRACEPARENT, "tracestate"))
_MOST: Final = 512
"""Characters of a value that is looked at: W3C has a `tracestate` be no longer."""
_PROPAGATOR: Final = TraceContextTextMapPropagator()


def written(context: SpanContext) -> str:
    """Return the `traceparent` that says that what follows belongs to this span."""
    flags = context.trace_flags & TraceFlags.SAMPLED
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{flags:02x}"


def read(traceparent: str) -> SpanContext | None:
    """Return the sampled span that a `traceparent` names; None for one that is not sampled, and for what is none."""
    context = get_current_span(parent_in([(TRACEPARENT, traceparent)])).get_span_context()
    return context if context.is_valid and context.trace_flags.sampled else None


def parent_in(metadata: Iterable[tuple[str, str | bytes]]) -> Context:
    """Return the trace that a caller goes on with, from a call's metadata; an empty one where he does not."""
    carrier = {key: value for key, value in metadata if key in _KEYS and isinstance(value, str) and len(value) <= _MOST}
    return _PROPAGATOR.extract(carrier, Context()) if carrier else Context()


def parent(context: SpanContext) -> Context:
    """Return the trace in which what follows comes from this span."""
    return set_span_in_context(NonRecordingSpan(context), Context())


def onward() -> tuple[tuple[str, str], ...]:
    """Return the metadata by which a call goes on with the current trace; none outside of one."""
    if not get_current_span().get_span_context().is_valid:
        return ()
    carrier: dict[str, str] = {}
    _PROPAGATOR.inject(carrier)
    return tuple(carrier.items())


def current() -> str:
    """Return the current trace's `traceparent`, which says whether it is sampled; empty outside of one."""
    context = get_current_span().get_span_context()
    return written(context) if context.is_valid else ""
