"""Matchmaking is replaced before table, so for a while it seats people by the table service of the release before."""

import asyncio
from contextlib import AsyncExitStack

from baohuang.client import DevelopmentIdentity, connect, connect_matchmaking
from baohuang.client.tickets import Matched
from baohuang.rules.state import PlayerId
from fleet.code import THIS, Code
from fleet.fleet import Fleet

PLAYERS = tuple(PlayerId(name) for name in ("an", "bo", "chen", "deng", "er"))


async def test_tables_of_the_release_before(servers: Fleet, before: Code) -> None:
    """Five who queue sit at one of its tables."""
    await servers.start_all(("table", before), ("matchmaking", THIS))
    async with AsyncExitStack() as stack:
        seated = await asyncio.gather(*(closed(stack, servers.address_of("matchmaking"), one) for one in PLAYERS))
    (table_id,) = {one.table_id for one in seated}
    async with connect(servers.address_of("table"), DevelopmentIdentity(PLAYERS[0])) as client:
        view = await client.get_table(table_id)
    assert {seat.player for seat in view.table.seats} == set(PLAYERS)


async def closed(stack: AsyncExitStack, address: str, player: PlayerId) -> Matched:
    """Queue a player and wait for his table."""
    queues = await stack.enter_async_context(connect_matchmaking(address, DevelopmentIdentity(player)))
    ticket = await queues.closed((await queues.create_ticket("ourgame-simple")).ticket_id)
    assert ticket.matched is not None
    return ticket.matched
