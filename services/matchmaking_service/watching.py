"""Streams of tickets: each sends its ticket whenever that has changed, and how it waits in between.

What this replica did itself it tells the watchers of the parties concerned at once; what others did is found by one
query for all that are watched, twice a second. Tickets of which there is something to tell are read together. A stream
holds nothing but the last revision it sent, so a slow reader costs nothing.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

import structlog

from baohuang.rpc.errors import Unavailable
from matchmaking_service.matching import PartyId
from matchmaking_service.reading import Tickets
from matchmaking_service.tickets import Ticket, TicketId, TicketState

ALIVE_SECONDS: Final = 5.0
_TICKETS_A_QUERY: Final = 1_000
_BETWEEN_SECONDS: Final = 0.05
"""Between looks at all that are watched, however often they are asked for."""
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
    party_id: PartyId | None = None
    woken: asyncio.Event = field(default_factory=asyncio.Event)


class Watching:
    """Watches tickets; `run` is its loop. `stream_seconds` is how old a stream may get."""

    def __init__(
        self, tickets: Tickets, poll_seconds: float, stream_seconds: float, alive_seconds: float = ALIVE_SECONDS
    ) -> None:
        self._tickets: Final = tickets
        self._poll_seconds: Final = poll_seconds
        self._stream_seconds: Final = stream_seconds
        self._alive_seconds: Final = alive_seconds
        self._watchers: Final[set[_Watcher]] = set()
        self._of_party: Final[defaultdict[PartyId, set[_Watcher]]] = defaultdict(set)
        self._poked: Final = asyncio.Event()
        self._draining = False

    def poke(self) -> None:
        """Hear that tickets were changed, and have all looked at that are watched."""
        self._poked.set()

    def changed(self, parties: Iterable[PartyId]) -> None:
        """Tell the watchers of parties whose tickets were changed here."""
        for party_id in parties:
            for watcher in self._of_party.get(party_id, ()):
                watcher.woken.set()

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
            await asyncio.sleep(_BETWEEN_SECONDS)
            self._poked.clear()
            try:
                await self._look()
            except Unavailable:
                _log.warning("watched tickets not looked at")

    async def messages(
        self, ticket_id: TicketId, after_revision: int, check_may_see: Callable[[Ticket], None]
    ) -> AsyncGenerator[Message, None]:
        """Give what a ticket's watcher is told, until the ticket is closed or he has to go elsewhere.

        Raises NotFound, Unavailable, and what `check_may_see` raises for the ticket.
        """
        ends_at = time.monotonic() + self._stream_seconds
        with self._watcher(ticket_id, after_revision) as watcher:
            while True:
                watcher.woken.clear()
                ticket = await self._tickets.ticket(ticket_id)
                if watcher.party_id is None:
                    check_may_see(ticket)
                    self._learn_party(watcher, ticket.party_id)
                closed = ticket.state is not TicketState.QUEUED
                if closed or ticket.revision > watcher.revision:
                    watcher.revision = ticket.revision
                    yield Changed(ticket)
                else:
                    yield StillWaiting(ticket)
                if closed:
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
            revisions = await self._tickets.revisions([watcher.ticket_id for watcher in some])
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
            self._forget_party(watcher)

    def _learn_party(self, watcher: _Watcher, party_id: PartyId) -> None:
        """Note whose news are this watcher's; what happened until now he has to ask for."""
        watcher.party_id = party_id
        self._of_party[party_id].add(watcher)

    def _forget_party(self, watcher: _Watcher) -> None:
        if watcher.party_id is None:
            return
        others = self._of_party[watcher.party_id]
        others.discard(watcher)
        if not others:
            del self._of_party[watcher.party_id]
