"""Log lines: JSON on standard error, one object a line; for a terminal, coloured text. Configured here only.

What libraries say by way of `logging` (asyncpg of a pool it refills, the NATS client of a connection) is a line like
ours, under the name of its `logger`.
"""

import logging
import sys
from collections.abc import MutableMapping
from functools import partial
from typing import Any, Final

import structlog

from baohuang.rpc.call import CALL
from baohuang.tracing import spans

_LIBRARIES: Final = "baohuang: libraries"
"""The name of our handler on the root logger."""


def configure_logging(level: str = "INFO", replica: str = "") -> None:
    """Set up structlog for the whole process; call it once, in a service's `main`.

    `level` as in `logging`; `replica` stands in every line, where replicas have names.
    """
    telling: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        bind_call,
        bind_trace,
        *([partial(_bind_replica, replica)] if replica else []),
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*telling, *_rendering()],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level]),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    _hear_libraries(telling)


def bind_call(_logger: object, _name: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Add the served call's method and caller to a line; read only when a line is written, so calls pay nothing."""
    call = CALL.get(None)
    if call is not None:
        line.setdefault("method", call.method)
        line.setdefault("caller", call.caller.player)
    return line


def bind_trace(_logger: object, _name: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Add the id of the trace that is told of what the line is about, as hex: by it the one is found from the other."""
    if (span := spans.sampled()) is not None:
        line.setdefault("trace_id", f"{span.get_span_context().trace_id:032x}")
    return line


def _hear_libraries(telling: list[structlog.typing.Processor]) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *telling],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *_rendering()],
        )
    )
    handler.set_name(_LIBRARIES)
    root = logging.getLogger()
    for before in [one for one in root.handlers if one.get_name() == _LIBRARIES]:
        root.removeHandler(before)
    root.addHandler(handler)


def _bind_replica(
    replica: str, _logger: object, _name: str, line: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    line.setdefault("replica", replica)
    return line


def _rendering() -> list[structlog.typing.Processor]:
    if sys.stderr.isatty():
        return [structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)]
    # Tracebacks without local variables, which both renderers show by default: they hold players' cards.
    frames = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
    return [structlog.processors.ExceptionRenderer(frames), structlog.processors.JSONRenderer(ensure_ascii=False)]
