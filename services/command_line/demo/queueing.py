"""From "I want to play" to a seat: five tickets, two of them of friends, until all sit at one table."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Self

from baohuang.client import DevelopmentIdentity, Matched, MatchmakingClient, Ticket, TicketState, connect_matchmaking
from baohuang.rules.state import PlayerId


@dataclass(frozen=True, slots=True)
class Queued:
    """The tickets of all players as they were made, the leader's first, whose party the second one joined."""

    tickets: Sequence[Ticket]
    players_waiting: int


@dataclass(frozen=True, slots=True)
class Seated:
    """Where they sit, and how many seconds after the last ticket they were told so."""

    matched: Matched
    seconds: float


class NotSeatedError(Exception):
    """A ticket came to another end than a seat."""


class Queue:
    """Five players before a matchmaking service; an async context manager that holds their connections."""

    def __init__(self, address: str, ruleset: str, players: Sequence[PlayerId]) -> None:
        self._address = address
        self._ruleset = ruleset
        self._players = players
        self._connections = AsyncExitStack()
        self._clients: Sequence[MatchmakingClient] = ()

    async def __aenter__(self) -> Self:
        self._clients = [
            await self._connections.enter_async_context(connect_matchmaking(self._address, DevelopmentIdentity(player)))
            for player in self._players
        ]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._connections.aclose()

    async def queue(self) -> Queued:
        """Queue all: two friends as a party by its code, the others alone. Raises ClientError."""
        leader, friend, *alone = self._clients
        party = await leader.create_ticket(self._ruleset, size=2)
        tickets = [party, await friend.join_party(party.party.party_code)]
        tickets += [await client.create_ticket(self._ruleset) for client in alone[:-1]]
        waiting = (await leader.queue(self._ruleset)).players
        return Queued([*tickets, await alone[-1].create_ticket(self._ruleset)], waiting)

    async def seated(self, queued: Queued) -> Seated:
        """Watch all tickets until they are closed. Raises NotSeatedError, ClientError."""
        since = time.monotonic()
        closed = await asyncio.gather(
            *(client.closed(one.ticket_id) for client, one in zip(self._clients, queued.tickets, strict=True))
        )
        for ticket in closed:
            if ticket.state is not TicketState.MATCHED or ticket.matched is None:
                raise NotSeatedError(f"the ticket of {ticket.player} is {ticket.state.name}: {ticket.set_aside}")
        tables = {ticket.matched.table_id: ticket.matched for ticket in closed if ticket.matched}
        if len(tables) != 1:
            raise NotSeatedError(f"five players sit at {len(tables)} tables")
        return Seated(next(iter(tables.values())), time.monotonic() - since)
