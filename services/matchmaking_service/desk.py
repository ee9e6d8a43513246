"""Where tickets are made, cancelled and asked for. Whoever changes a party locks its row first."""

from collections.abc import Callable, Sequence
from typing import Final

from baohuang.database.pool import Connection, Pool
from baohuang.rpc.errors import Reason, WrongState
from baohuang.rpc.reading import Reader
from baohuang.rules.state import PlayerId
from matchmaking_service.creating import Creating, Made, wanted
from matchmaking_service.queries import query
from matchmaking_service.reading import Tickets, no_such_ticket, ticket_in
from matchmaking_service.requests import Request, carried_out_once
from matchmaking_service.tickets import QueueLength, Ticket, TicketId, TicketState, Wish, stored_options

Answer = Callable[[Ticket], bytes]
"""What a request that led to this ticket is answered with."""

_LOCK_OF_TICKET: Final = query("lock_party_of_ticket")
_TICKET_STATE: Final = query("ticket_state")
_REOPEN: Final = query("reopen_party")
_TOUCH: Final = query("touch_tickets")
_CANCEL: Final = query("cancel_ticket")
_CLOSE_PARTIES: Final = query("close_parties")
_CLOSE_TICKETS: Final = query("close_tickets")
_READ: Final = query("read_tickets")
_QUEUE: Final = query("read_queue")
_GONE_WRONG: Final = query("gone_wrong")
LISTED: Final = 100
"""How many tickets that went wrong are listed."""


class Desk:
    """Serves the calls. All of it raises Unavailable when the database does not answer."""

    def __init__(self, pool: Pool, creating: Creating, tickets: Tickets) -> None:
        self._pool: Final = pool
        self._creating: Final = creating
        self._tickets: Final = tickets
        self._reader: Final = Reader(pool)

    async def create(self, request: Request, wish: Wish | str) -> Made:
        """Queue the caller: with a party of his own, or with that of a code. Gives the ticket as it was made.

        Raises WrongState (ALREADY_QUEUED, PARTY_FULL), NotFound (NO_SUCH_PARTY), MalformedInput, Unavailable.
        """
        return await self._creating.settled(wanted(request, wish))

    async def cancel(self, request: Request, ticket_id: TicketId, answer: Answer) -> bytes:
        """Close the caller's ticket. Raises NotFound, WrongState (TICKET_CLOSED), MalformedInput, Unavailable."""

        async def work(connection: Connection) -> bytes:
            await _cancel(connection, request.caller, ticket_id)
            return answer(await _read_one(connection, ticket_id))

        return await carried_out_once(self._pool, request, work)

    async def queue(self, wish: Wish) -> QueueLength:
        """Return how long a queue is. Raises Unavailable."""
        (row,) = await self._reader.fetch(_QUEUE, wish.ruleset, stored_options(wish.options))
        return QueueLength(*row)

    async def gone_wrong(self, wish: Wish) -> Sequence[Ticket]:
        """Return tickets of a queue that expired or were set aside within a day, the last first. Raises Unavailable."""
        rows = await self._reader.fetch(_GONE_WRONG, wish.ruleset, stored_options(wish.options), LISTED)
        return await self._tickets.those([row["ticket_id"] for row in rows])


async def _cancel(connection: Connection, player: PlayerId, ticket_id: TicketId) -> None:
    party = await connection.fetchrow(_LOCK_OF_TICKET, ticket_id)
    ticket = await connection.fetchrow(_TICKET_STATE, ticket_id)
    if party is None or ticket is None or ticket["player"] != player:
        raise no_such_ticket()
    if ticket["state"] != TicketState.QUEUED.value or party["match_id"] is not None:
        raise WrongState(Reason.TICKET_CLOSED, "the ticket does not wait any more: watch it, which tells the rest")
    party_id = party["party_id"]
    if player == party["leader"]:
        await connection.execute(_CLOSE_PARTIES, [party_id])
        await connection.execute(_CLOSE_TICKETS, [party_id], TicketState.CANCELLED.value, None, None)
    else:
        await connection.execute(_CANCEL, ticket_id)
        await connection.execute(_REOPEN, party_id)
        await connection.execute(_TOUCH, party_id, ticket_id)


async def _read_one(connection: Connection, ticket_id: TicketId) -> Ticket:
    (row,) = await connection.fetch(_READ, [ticket_id])
    return ticket_in(row)
