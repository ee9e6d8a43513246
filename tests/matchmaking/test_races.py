"""Calls that race with the loops: every ticket ends in one way, and its player is where that says."""

import asyncio
from typing import Any

import asyncpg
import grpc
import pytest

from baohuang.gen.matchmaking.v1 import matchmaking_service_pb2 as pb
from baohuang.gen.table.v1 import table_service_pb2 as table_pb
from eventually import eventually
from matchmaking.serving import Caller, Service, cancelling, joining, matchmaking, paced
from tables.clients import Client, refusal
from tables.replicas import Replica


async def cancelled_or_not(caller: Caller, ticket_id: str) -> bool:
    """Cancel a ticket, and tell whether that came in time."""
    reply: Any
    (reply,) = await asyncio.gather(caller.call(cancelling(ticket_id)), return_exceptions=True)
    if isinstance(reply, grpc.aio.AioRpcError):
        assert refusal(reply).reason == "TICKET_CLOSED"
        return False
    return bool(reply.ticket.state == pb.TICKET_STATE_CANCELLED)


async def test_cancelling_while_matches_are_formed(
    own_database_dsn: str, service: Service, tables: Replica, database: asyncpg.Connection
) -> None:
    """Over two replicas: who was told that his ticket is cancelled sits nowhere, all others at one table or wait."""
    players = [f"p{number:02}" for number in range(30)]
    async with matchmaking(own_database_dsn, tables.address) as other:

        async def come_and_perhaps_go(number: int) -> tuple[str, bool]:
            here, there = (service, other) if number % 2 else (other, service)
            ticket = await here.caller(players[number]).queue()
            gone = number % 3 == 0 and await cancelled_or_not(there.caller(players[number]), ticket.ticket_id)
            return players[number], gone

        told = dict(await asyncio.gather(*map(come_and_perhaps_go, range(len(players)))))

        async def settled() -> bool:
            waiting = await database.fetchval("select count(*) from tickets where state = 'queued'")
            return bool(waiting < 5)

        await eventually(settled, within=30.0)
    listed = (await Client(tables.channel, "an").call(table_pb.ListTablesRequest())).tables
    seated = [player for table in listed for player in table.players]
    assert len(seated) == len(set(seated))
    rows = await database.fetch("select player, state from tickets")
    assert {row["player"] for row in rows if row["state"] == "cancelled"} == {one for one, gone in told.items() if gone}
    assert sorted(row["player"] for row in rows if row["state"] == "matched") == sorted(seated)


async def test_joining_a_party_that_expires(
    own_database_dsn: str, service: Service, tables: Replica, database: asyncpg.Connection
) -> None:
    """The party is closed and its tickets are about to be: the friend is refused, and no ticket of his is left open."""
    ticket = await service.caller("an").queue(size=2)

    async def somebody_waits() -> bool:
        found = await other_eyes.fetchval("select count(*) from pg_stat_activity where wait_event_type = 'Lock'")
        return bool(found)

    other_eyes = await asyncpg.connect(own_database_dsn)
    async with database.transaction():
        await database.execute("select 1 from tickets where player = 'an' for update")
        async with matchmaking(own_database_dsn, tables.address, pace=paced(ticket_lifetime=0.1)):
            await eventually(somebody_waits)
            late = service.caller("bo").start(joining(ticket.party.party_code))
            # Who comes after him is settled with him, or later.
            await service.caller("chen").queue()
            assert not late.done()
            await database.execute("rollback")
            await database.execute("begin")
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await late
            assert refusal(caught.value).reason == "NO_SUCH_PARTY"
            assert (await service.caller("an").until_closed(ticket.ticket_id)).state == pb.TICKET_STATE_EXPIRED
    await other_eyes.close()
    assert not await database.fetchval("select count(*) from tickets where player = 'bo'")


async def test_friends_race_for_the_last_place(service: Service, database: asyncpg.Connection) -> None:
    """Ten come for two places at once: two are in, the others are refused as PARTY_FULL and wait nowhere."""
    ticket = await service.caller("an").queue(size=3)
    calls = [service.caller(f"f{number}").start(joining(ticket.party.party_code)) for number in range(10)]
    replies = await asyncio.gather(*calls, return_exceptions=True)
    refused = [refusal(reply).reason for reply in replies if isinstance(reply, grpc.aio.AioRpcError)]
    assert refused == ["PARTY_FULL"] * 8
    assert await database.fetchval("select count(*) from tickets where state = 'queued'") == 3
