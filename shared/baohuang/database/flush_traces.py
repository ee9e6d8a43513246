"""A flush in the traces of its commands: how long each waited for it, and the flush itself, once, linked to all."""

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from opentelemetry.trace import Span, SpanContext, SpanKind

from baohuang.tracing import carried, spans


@dataclass(frozen=True, slots=True)
class Queued:
    """The span that a command was queued in, and when: nanoseconds of the clock that spans have."""

    span: Span
    at: int

    def flushed(self) -> SpanContext:
        """Tell that its flush begins, and return what that is linked to."""
        context = self.span.get_span_context()
        _waited(context, self.at).end()
        return context


def queued() -> Queued | None:
    """Return what is to be known of a command that is queued now; None where it is in no trace that is told."""
    span = spans.sampled()
    return None if span is None else Queued(span, time.time_ns())


def flushing(store: str, batch: Sequence[Queued | None]) -> AbstractContextManager[object]:
    """Time a flush of commands, those in no trace too."""
    causes = [one.flushed() for one in batch if one is not None]
    return spans.joint(f"flush {store}", causes, spans.COMMANDS, len(batch))


def _waited(context: SpanContext, since: int) -> Span:
    return spans.begun("wait for the flush", carried.parent(context), SpanKind.INTERNAL, since=since)
