"""Streams of tickets: each sends its ticket whenever that has changed, and how it waits in between.

What changed is found by one query a replica for all that are watched, twice a second, and at once for what this
replica did itself. A stream holds nothing but the last revision it sent, so a slow reader costs nothing.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

import structlog

from baohuang.rpc.errors import Unavailable
from matchmaking_service.desk import Desk
from matchmaking_service.tickets import Ticket, TicketId, TicketState

ALIVE_SECONDS: Final = 5.0
_TICKETS_A_QUERY: Final = 1_000
_log = structlog.get_logger("matchmaking")


@dataclass(frozen=True, slots=True)
class Changed:
    """The ticket is past the revision that was sent."""

    ticket: Ticket


@dataclass(frozen=True, slots=True)
class StillWaiting:
    """Nothing but time has passed."""

    ticket: Ticket


@dataclass(frozen=True, slots=True)
class GoElsewhere:
    """The stream ends before the ticket is closed."""

    revision: int


Message = Changed | StillWaiting | GoElsewhere


@dataclass(eq=False, slots=True)
class _Watcher:
    ticket_id: TicketId
    revision: int
    woken: asyncio.Event = field(default_factory=asyncio.Event)


class Watching:
    """Watches tickets; `run` is its loop. `stream_seconds` is how old a stream may get."""

    def __init__(
        self, desk: Desk, poll_seconds: float, stream_seconds: float, alive_seconds: float = ALIVE_SECONDS
    ) -> None:
        self._desk: Final = desk
        self._poll_seconds: Final = poll_seconds
        self._stream_seconds: Final = stream_seconds
        self._alive_seconds: Final = alive_seconds
        self._watchers: Final[set[_Watcher]] = set()
        self._poked: Final = asyncio.Event()
        self._draining = False

    def poke(self) -> None:
        """Hear that this replica changed tickets."""
        self._poked.set()

    def drain(self) -> None:
        """Send all watchers away, those to come as well."""
        self._draining = True
        for watcher in self._watchers:
            watcher.woken.set()

    async def run(self) -> None:
        """Run for ever."""
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._poked.wait(), self._poll_seconds)
            self._poked.clear()
            try:
                await self._look()
            except Unavailable:
                _log.warning("watched tickets not looked at")

    async def messages(self, ticket_id: TicketId, after_revision: int) -> AsyncGenerator[Message, None]:
        """Give what a ticket's watcher is told, until the ticket is closed or he has to go elsewhere.

        Raises NotFound, Unavailable.
        """
        ends_at = time.monotonic() + self._stream_seconds
        with self._watcher(ticket_id, after_revision) as watcher:
            while True:
                watcher.woken.clear()
                ticket = await self._desk.ticket(ticket_id)
                if ticket.revision > watcher.revision:
                    watcher.revision = ticket.revision
                    yield Changed(ticket)
                else:
                    yield StillWaiting(ticket)
                if ticket.state is not TicketState.QUEUED:
                    return
                if self._draining or not await self._woken(watcher, ends_at):
                    yield GoElsewhere(watcher.revision)
                    return

    async def _woken(self, watcher: _Watcher, ends_at: float) -> bool:
        """Wait for a change, or until a sign of life is due; False when the stream has to end."""
        left = ends_at - time.monotonic()
        with suppress(TimeoutError):
            await asyncio.wait_for(watcher.woken.wait(), min(self._alive_seconds, max(left, 0)))
        return not self._draining and time.monotonic() < ends_at

    async def _look(self) -> None:
        watchers = list(self._watchers)
        for start in range(0, len(watchers), _TICKETS_A_QUERY):
            some = watchers[start : start + _TICKETS_A_QUERY]
            revisions = await self._desk.revisions([watcher.ticket_id for watcher in some])
            for watcher in some:
                if revisions.get(watcher.ticket_id, 0) > watcher.revision:
                    watcher.woken.set()

    @contextmanager
    def _watcher(self, ticket_id: TicketId, revision: int) -> Iterator[_Watcher]:
        watcher = _Watcher(ticket_id, revision)
        self._watchers.add(watcher)
        try:
            yield watcher
        finally:
            self._watchers.discard(watcher)
