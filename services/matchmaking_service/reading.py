"""Reading tickets: those that are asked for at one time are read by one query."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from baohuang.database.pool import Pool
from baohuang.rpc.errors import NotFound, Reason, Unavailable
from baohuang.rpc.reading import Reader
from baohuang.rules.state import TableId
from matchmaking_service.matching import PartyId
from matchmaking_service.queries import query
from matchmaking_service.tickets import MatchId, Ticket, TicketId, TicketState, options_if_readable

_READ: Final = query("read_tickets")
_REVISIONS: Final = query("read_revisions")
_AT_ONCE: Final = 500


class Tickets:
    """Reads tickets. All of it raises Unavailable when the database does not answer."""

    def __init__(self, pool: Pool) -> None:
        self._reader: Final = Reader(pool)
        self._asked: Final[dict[TicketId, asyncio.Future[Ticket | None]]] = {}
        self._reading: asyncio.Task[None] | None = None

    async def ticket(self, ticket_id: TicketId) -> Ticket:
        """Return a ticket as it is after the call. Raises NotFound, Unavailable."""
        asked = self._asked.get(ticket_id)
        if asked is None:
            asked = self._asked[ticket_id] = asyncio.get_running_loop().create_future()
        if self._reading is None:
            self._reading = asyncio.create_task(self._read_all(), name="tickets: reading")
        # Others may wait for the same ticket: who is cancelled gives up his own wait.
        found = await asyncio.shield(asked)
        if found is None:
            raise no_such_ticket()
        return found

    async def those(self, ticket_ids: Sequence[TicketId]) -> Sequence[Ticket]:
        """Return those of the tickets that are there, in this order. Raises Unavailable."""
        found = {row["ticket_id"]: ticket_in(row) for row in await self._reader.fetch(_READ, ticket_ids)}
        return [found[ticket_id] for ticket_id in ticket_ids if ticket_id in found]

    async def revisions(self, ticket_ids: Sequence[TicketId]) -> Mapping[TicketId, int]:
        """Return how often tickets have changed. Raises Unavailable."""
        rows = await self._reader.fetch(_REVISIONS, ticket_ids)
        return {row["ticket_id"]: row["revision"] for row in rows}

    async def _read_all(self) -> None:
        """Read until nobody asks any more."""
        try:
            while self._asked:
                asked = {one: self._asked.pop(one) for one in list(self._asked)[:_AT_ONCE]}
                await self._read(asked)
        finally:
            self._reading = None

    async def _read(self, asked: "Mapping[TicketId, asyncio.Future[Ticket | None]]") -> None:
        try:
            rows = await self._reader.fetch(_READ, list(asked))
            found = {row["ticket_id"]: ticket_in(row) for row in rows}
            for ticket_id, future in asked.items():
                future.set_result(found.get(ticket_id))
        except Unavailable as error:
            for future in asked.values():
                future.set_exception(error)
                # Whoever asked may be gone: nobody need hear of it.
                future.exception()
        finally:
            for future in asked.values():
                future.cancel()


def no_such_ticket() -> NotFound:
    """Return the refusal of a ticket that is not there, or not the caller's."""
    return NotFound(Reason.NO_SUCH_TICKET, "there is no such ticket of yours")


def ticket_in(row: Any) -> Ticket:
    """Return the ticket in a row of the query `read_tickets`."""
    return Ticket(
        ticket_id=TicketId(row["ticket_id"]),
        party_id=PartyId(row["party_id"]),
        player=row["player"],
        state=TicketState(row["state"]),
        revision=row["revision"],
        reason=row["reason"],
        culprit=row["culprit"],
        leader=row["leader"],
        code=row["code"],
        ruleset=row["ruleset"],
        options=options_if_readable(row["options"]),
        size=row["size"],
        players=tuple(row["players"]),
        place=row["place"],
        waited_ms=row["waited_ms"],
        match_found=row["match_found"],
        match_id=MatchId(row["match_id"]) if row["match_id"] else None,
        table_id=TableId(row["table_id"]) if row["table_id"] else None,
        seats=tuple(row["seats"]) if row["seats"] else None,
    )
