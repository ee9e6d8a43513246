"""Which traces the messages of a source belong to: from who added to it, by its pokes, to who publishes it.

Nothing of it is stored with the source. What is not known in time, or is too much, is published without a trace.

    header of a poke     Baohuang-Traces: 41 00-4bf9…-01,42 00-4bf9…-01      numbers, and what they belong to
    header of a message  traceparent: 00-4bf9…-01                            as W3C's Trace Context has it
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import islice
from typing import Final

from opentelemetry.trace import Span, SpanContext, SpanKind

from baohuang.stream.port import Message, Number
from baohuang.tracing import carried, spans
from baohuang.tracing.carried import TRACEPARENT

POKE_HEADER: Final = "Baohuang-Traces"
KNOWN: Final = 10_000
"""Numbers whose traces are known at once; of more the oldest are forgotten."""
_SAID: Final = 200
"""Numbers whose traces one poke says: a header of some 13 kB."""
_DIGITS: Final = 18
"""Of a number that fits where numbers are stored."""


class Traces:
    """The traces of messages that are not published yet, as far as somebody told of them."""

    def __init__(self, known: int = KNOWN) -> None:
        self._known: Final = known
        self._of: dict[Number, str] = {}

    def put(self, numbers: Iterable[int], traceparent: str | None = None) -> None:
        """Note the trace of messages, which is sampled; None is the current one."""
        belongs = carried.current() if traceparent is None else traceparent
        if belongs:
            self._of.update((Number(number), belongs) for number in numbers)
            for oldest in list(islice(self._of, max(0, len(self._of) - self._known))):
                del self._of[oldest]

    def say(self) -> dict[str, str] | None:
        """Return the header of a poke that says what is known, and forget it; None if nothing is."""
        if not self._of:
            return None
        said = ",".join(f"{number} {belongs}" for number, belongs in islice(self._of.items(), _SAID))
        self._of.clear()
        return {POKE_HEADER: said}

    def hear(self, header: str) -> None:
        """Take in the header of a poke; what is malformed in it is ignored."""
        for one in header.split(",")[:_SAID]:
            number, _, traceparent = one.partition(" ")
            context = carried.read(traceparent)
            if context is not None and number.isascii() and number.isdigit() and len(number) <= _DIGITS:
                self.put([int(number)], carried.written(context))

    @contextmanager
    def publishing(self, messages: Sequence[Message]) -> Iterator[Sequence[Message]]:
        """Give messages as they are to be published, those of a trace with its header; it is timed as one span a trace.

        Once they are published nothing is known any more of them, nor of those before.
        """
        if not self._of:
            yield messages
            return
        with ExitStack() as ending:
            begun: dict[str, Span] = {}
            yield [self._carrying(message, begun, ending) for message in messages]
        last = messages[-1].number
        self._of = {number: belongs for number, belongs in self._of.items() if number > last}

    def _carrying(self, message: Message, begun: dict[str, Span], ending: ExitStack) -> Message:
        belongs = self._of.get(message.number)
        context = carried.read(belongs) if belongs else None
        if belongs is None or context is None:
            return message
        if belongs not in begun:
            begun[belongs] = _begun("relay publish", context, SpanKind.PRODUCER, message, ending)
        return _with(message, begun[belongs])


def caused(messages: Iterable[Message]) -> Sequence[SpanContext]:
    """Return the spans that messages come from, each once; only those of traces that are sampled."""
    found = {header: None for message in messages if (header := message.headers.get(TRACEPARENT))}
    return [context for header in found if (context := carried.read(header))]


def in_traces_of(received: Iterable[Message], messages: Sequence[Message]) -> Sequence[Message]:
    """Return messages, read from their source, in the traces in which the same ones were received."""
    belongs = {one.number: traceparent for one in received if (traceparent := one.headers.get(TRACEPARENT))}
    if not belongs:
        return messages
    return [_of(one, belongs[one.number]) if one.number in belongs else one for one in messages]


@contextmanager
def consuming(consumer: str, messages: Sequence[Message]) -> Iterator[Sequence[Message]]:
    """Time the consuming of messages, as one span for each trace among them, and give them as coming from it."""
    if not any(TRACEPARENT in message.headers for message in messages):
        yield messages
        return
    with ExitStack() as ending:
        begun: dict[str, Span] = {}
        yield [_consumed(consumer, message, begun, ending) for message in messages]


def _consumed(consumer: str, message: Message, begun: dict[str, Span], ending: ExitStack) -> Message:
    header = message.headers.get(TRACEPARENT, "")
    context = carried.read(header)
    if context is None:
        return message
    if header not in begun:
        begun[header] = _begun(f"consume {consumer}", context, SpanKind.CONSUMER, message, ending)
    return _with(message, begun[header])


def _begun(name: str, context: SpanContext, kind: SpanKind, message: Message, ending: ExitStack) -> Span:
    span = spans.begun(name, carried.parent(context), kind, {spans.NUMBER: message.number})
    ending.callback(span.end)
    return span


def _with(message: Message, span: Span) -> Message:
    """Return the message as one that comes from a span; from what that comes from, where no traces are told."""
    return _of(message, carried.written(span.get_span_context()))


def _of(message: Message, traceparent: str) -> Message:
    return replace(message, headers={**message.headers, TRACEPARENT: traceparent})
