"""A service as a process: configured by its environment, until SIGTERM or SIGINT.

    starting ──listening──► serving ──signal──► draining ──► ended, exit code 0
        └───────signal───────────────────────────────────────►┘

The first signal drains: health turns NOT_SERVING, new calls are refused, watchers are sent away, open calls get the
grace period; one that is still starting gives up its start. Further signals hurry nothing. Once it serves it says so
in one line on standard output: `listening on 127.0.0.1:50051`.
"""

import asyncio
import gc
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Final, Literal, TypeVar

import structlog
import uvloop
from asyncpg import PostgresError

from baohuang.database.release import SchemaMismatchError
from baohuang.eventlog.port import LogUnavailable
from baohuang.rpc.auth import InsecureListenError
from baohuang.rpc.configuration import ConfigurationError, from_environment
from baohuang.rpc.key_ring import KeysUnavailableError
from baohuang.rpc.log import configure_logging
from baohuang.rpc.server import ListenError
from baohuang.rpc.settings import ServerSettings
from baohuang.rpc.variables import unread
from baohuang.tls.files import CertificateError
from baohuang.tracing.settings import TraceSettings

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_EXPORTING: Final = "baohuang.tracing.exporting"
"""Imported where traces are wanted alone: it costs the start of a process a third of a second."""
_COLLECT_AFTER: Final = (20_000, 20, 100)
"""Objects made and not freed before the youngest are collected, and how many collections before older ones are."""
_S = TypeVar("_S", bound=ServerSettings)
Serve = Callable[[_S, asyncio.Event], Awaitable[None]]
"""Serves until the event is set, then drains."""


def run(name: str, settings_class: type[_S], serve: Serve[_S]) -> None:
    """Run a service. Exits with 1 and one line of text when it cannot be configured or cannot serve."""
    gc.freeze()  # the code, which the start would be searched through again and again
    try:
        settings, traces = from_environment(settings_class), from_environment(TraceSettings)
        configure_logging(settings.log_level, settings.replica)
        _say_what_is_unread()
        with _tracing(name, settings, traces):
            uvloop.run(_until_signalled(settings, serve))
    except (
        ConfigurationError,
        ListenError,
        InsecureListenError,
        KeysUnavailableError,
        CertificateError,
        OSError,
        PostgresError,
        LogUnavailable,
        SchemaMismatchError,
    ) as error:
        sys.exit(f"{name}: {error}")


def _say_what_is_unread() -> None:
    """Warn in one line of variables with names that nobody knows; their values are told to nobody."""
    if found := unread(os.environ):
        structlog.get_logger("baohuang.rpc").warning("variables that nobody reads", variables=found)


def _tracing(name: str, settings: ServerSettings, traces: TraceSettings) -> AbstractContextManager[None]:
    """Tell the traces of a service for as long as it runs, if they are wanted. Raises CertificateError."""
    if traces.endpoint is None:
        return nullcontext()
    service = f"baohuang-{name.partition(' ')[0]}"
    told: AbstractContextManager[None] = import_module(_EXPORTING).exporting(
        traces, traces.endpoint, service, settings.replica, settings.client_tls
    )
    return told


def _collect_seldom() -> None:
    """Spare looking through what a service holds, and its code, for cycles; to be called once all of it is there.

    Here alone what the imports left behind is freed, which was set aside until now. Plays over streams leave no cycles
    behind, calls a handful. With the interpreter's own settings the search takes a sixth of a busy replica's time, in
    pauses that grow with what it holds; and its last one, of all there is, takes longer than all the rest of a
    service's end.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECT_AFTER)


def announce(listen: str, port: int) -> None:
    """Say where the service listens, once it serves; `listen` is what it was told, "host:port"."""
    _collect_seldom()
    host = listen.rpartition(":")[0]
    sys.stdout.write(f"listening on {host}:{port}\n")
    sys.stdout.flush()
    structlog.get_logger("baohuang.rpc").info("serving", address=f"{host}:{port}")


class _Stop(asyncio.Event):
    """Is set by the first signal; `is_awaited` once the service has started, and does nothing but serve."""

    is_awaited = False

    async def wait(self) -> Literal[True]:
        """Wait for the signal."""
        self.is_awaited = True
        return await super().wait()


async def _until_signalled(settings: _S, serve: Serve[_S]) -> None:
    stop, loop = _Stop(), asyncio.get_running_loop()
    serving = asyncio.ensure_future(serve(settings, stop))

    def end() -> None:
        if stop.is_set():
            return
        stop.set()
        log = structlog.get_logger("baohuang.rpc")
        if stop.is_awaited:
            log.info("draining", grace_seconds=settings.drain_grace_seconds)
        else:
            log.info("ended while it started")
            serving.cancel()

    for number in _SIGNALS:
        loop.add_signal_handler(number, end)
    try:
        await serving
    except asyncio.CancelledError:
        if not stop.is_set():
            raise
    finally:
        if stop.is_set():
            _ignore_signals(loop)


def _ignore_signals(loop: asyncio.AbstractEventLoop) -> None:
    """Have no signal kill what has ended in order, while the interpreter takes itself down."""
    for number in _SIGNALS:
        loop.remove_signal_handler(number)
        signal.signal(number, signal.SIG_IGN)
