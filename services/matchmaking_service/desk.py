"""Where tickets are made, cancelled and asked for. Whoever changes a party locks its row first."""

import secrets
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NoReturn

from baohuang.database.pool import Connection, Pool
from baohuang.rpc.errors import NotFound, Reason, WrongState
from baohuang.rpc.reading import Reader
from baohuang.rules.state import PlayerId, TableId
from matchmaking_service.queries import query
from matchmaking_service.requests import Request, carried_out_once
from matchmaking_service.tickets import (
    MatchId,
    QueueLength,
    Ticket,
    TicketId,
    TicketState,
    Wish,
    options_if_readable,
    stored_options,
)

Answer = Callable[[Ticket], bytes]
"""What a request that led to this ticket is answered with."""

_OPEN_TICKET_OF: Final = query("open_ticket_of")
_OPEN_PARTY: Final = query("open_party")
_INSERT_TICKET: Final = query("insert_ticket")
_LOCK_BY_CODE: Final = query("lock_party_by_code")
_LOCK_OF_TICKET: Final = query("lock_party_of_ticket")
_TICKET_STATE: Final = query("ticket_state")
_COUNT_MEMBERS: Final = query("count_members")
_COMPLETE: Final = query("complete_party")
_REOPEN: Final = query("reopen_party")
_TOUCH: Final = query("touch_tickets")
_CANCEL: Final = query("cancel_ticket")
_CLOSE_PARTIES: Final = query("close_parties")
_CLOSE_TICKETS: Final = query("close_tickets")
_READ: Final = query("read_tickets")
_REVISIONS: Final = query("read_revisions")
_QUEUE: Final = query("read_queue")
_CODE_BYTES: Final = 16


class Desk:
    """Serves the calls. All of it raises Unavailable when the database does not answer."""

    def __init__(self, pool: Pool) -> None:
        self._pool: Final = pool
        self._reader: Final = Reader(pool)

    async def create(self, request: Request, wish: Wish | str, answer: Answer) -> bytes:
        """Queue the caller: with a party of his own, or with that of a code.

        Raises WrongState (ALREADY_QUEUED, PARTY_FULL), NotFound (NO_SUCH_PARTY), MalformedInput, Unavailable.
        """

        async def work(connection: Connection) -> bytes:
            ticket_id = TicketId(str(uuid.uuid4()))
            match wish:
                case Wish():
                    await _open_party(connection, request.caller, ticket_id, wish)
                case str() as code:
                    await _join(connection, request.caller, ticket_id, code)
            return answer(await _read_one(connection, ticket_id))

        return await carried_out_once(self._pool, request, work)

    async def cancel(self, request: Request, ticket_id: TicketId, answer: Answer) -> bytes:
        """Close the caller's ticket. Raises NotFound, WrongState (TICKET_CLOSED), MalformedInput, Unavailable."""

        async def work(connection: Connection) -> bytes:
            await _cancel(connection, request.caller, ticket_id)
            return answer(await _read_one(connection, ticket_id))

        return await carried_out_once(self._pool, request, work)

    async def ticket(self, ticket_id: TicketId) -> Ticket:
        """Return a ticket. Raises NotFound, Unavailable."""
        rows = await self._reader.fetch(_READ, [ticket_id])
        if not rows:
            raise no_such_ticket()
        return _ticket(rows[0])

    async def revisions(self, ticket_ids: Sequence[TicketId]) -> Mapping[TicketId, int]:
        """Return how often tickets have changed. Raises Unavailable."""
        rows = await self._reader.fetch(_REVISIONS, ticket_ids)
        return {row["ticket_id"]: row["revision"] for row in rows}

    async def queue(self, wish: Wish) -> QueueLength:
        """Return how long a queue is. Raises Unavailable."""
        (row,) = await self._reader.fetch(_QUEUE, wish.ruleset, stored_options(wish.options))
        return QueueLength(*row)


def no_such_ticket() -> NotFound:
    """Return the refusal of a ticket that is not there, or not the caller's."""
    return NotFound(Reason.NO_SUCH_TICKET, "there is no such ticket of yours")


async def _open_party(connection: Connection, leader: PlayerId, ticket_id: TicketId, wish: Wish) -> None:
    party_id, code = str(uuid.uuid4()), secrets.token_urlsafe(_CODE_BYTES)
    party = (party_id, code, leader, wish.ruleset, stored_options(wish.options), wish.size)
    if await connection.fetchval(_OPEN_PARTY, *party, ticket_id) is None:
        await _refuse_queued(connection, leader)


async def _join(connection: Connection, player: PlayerId, ticket_id: TicketId, code: str) -> None:
    party = await connection.fetchrow(_LOCK_BY_CODE, code)
    if party is None or not party["open"]:
        raise NotFound(Reason.NO_SUCH_PARTY, "no open party has this code")
    await _check_not_queued(connection, player)
    party_id, members = party["party_id"], await connection.fetchval(_COUNT_MEMBERS, party["party_id"])
    if members >= party["size"] or party["match_id"] is not None:
        raise WrongState(Reason.PARTY_FULL, f"the party is for {party['size']} players, and has them")
    await _insert_ticket(connection, ticket_id, party_id, player)
    await connection.execute(_TOUCH, party_id, ticket_id)
    if members + 1 == party["size"]:
        await connection.execute(_COMPLETE, party_id)


async def _insert_ticket(connection: Connection, ticket_id: TicketId, party_id: str, player: PlayerId) -> None:
    if await connection.fetchval(_INSERT_TICKET, ticket_id, party_id, player) is None:
        await _refuse_queued(connection, player)


async def _refuse_queued(connection: Connection, player: PlayerId) -> NoReturn:
    await _check_not_queued(connection, player)
    raise WrongState(Reason.ALREADY_QUEUED, "you had an open ticket until this moment: try again")


async def _check_not_queued(connection: Connection, player: PlayerId) -> None:
    other = await connection.fetchval(_OPEN_TICKET_OF, player)
    if other is not None:
        raise WrongState(Reason.ALREADY_QUEUED, "you have an open ticket already", {"ticket_id": other})


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
    return _ticket(row)


def _ticket(row: Any) -> Ticket:
    return Ticket(
        ticket_id=TicketId(row["ticket_id"]),
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
        match_id=MatchId(row["match_id"]) if row["match_id"] else None,
        table_id=TableId(row["table_id"]) if row["table_id"] else None,
        seats=tuple(row["seats"]) if row["seats"] else None,
    )
