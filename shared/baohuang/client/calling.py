"""A call, or a command on a stream, as a span in the trace of the app that makes it."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

from opentelemetry.context import get_current
from opentelemetry.trace import Span, SpanKind

from baohuang.tracing import spans

_NOTHING: Final = nullcontext()


def calling(request: Any) -> AbstractContextManager[Span | None]:
    """Time a call by its request, in an app that tells traces."""
    if not spans.wanted():
        return _NOTHING
    name = request.DESCRIPTOR.full_name.removesuffix("Request")
    attributes = {
        key: value
        for key, field in ((spans.TABLE_ID, "table_id"), (spans.REQUEST_ID, "request_id"))
        if (value := getattr(request, field, ""))
    }
    return spans.around(spans.begun(name, get_current(), SpanKind.CLIENT, attributes))
