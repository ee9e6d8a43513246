"""Replicas of this tree and of the release before, on one database, while many tables play."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack

import pytest

from eventually import eventually
from fleet.code import THIS, Code
from fleet.companies import check_unharmed, companies, fetched, play_all
from fleet.fleet import Fleet, Place
from fleet.replica import Replica
from fleet.settled import all_settled, check_all
from metrics.scraping import page_at
from up.connections import connections_of

TABLES = 10
MANY = 50


@pytest.mark.timeout(900)
async def test_ten_tables_play_through_an_upgrade(servers: Fleet, place: Place, before: Code) -> None:
    """Replicas of both releases decide the same tables, and each is killed and comes back: no hand is lost or harmed.

    Scoring of one release feeds rating of the other, then the other way round; all agrees in the end.
    """
    tables = await servers.start_all(("table", before), ("table", THIS))
    booking = await servers.start_all(("scoring", before), ("rating", THIS))
    async with AsyncExitStack() as stack:
        address = servers.address_of("table")
        first = await companies(stack, address, TABLES, "a")
        await check_shared(address, tables)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(play_all(first))
            tasks.create_task(killed_in_turn(servers, place.dsn, tables))
        await all_settled(place.dsn)
        await asyncio.gather(*map(servers.end, booking))
        await servers.start_all(("scoring", THIS), ("rating", before))
        await play_all(first[:2])
    await check_all(place.dsn)
    await check_unharmed(place.dsn, TABLES + 2)


async def check_shared(address: str, tables: Sequence[Replica]) -> None:
    """Check that players of the tables are connected to both replicas."""
    port = int(address.rpartition(":")[2])
    assert min(connections_of([process.child.pid for process in tables], port).values()) > 0


async def killed_in_turn(servers: Fleet, dsn: str, tables: Sequence[Replica]) -> None:
    """Kill each replica in the middle of play, and start it again once the hands went on without it.

    Each has decided many commands before it is killed.
    """
    for replica in tables:
        await decides(replica)
        await further(dsn)
        await servers.kill(replica)
        await further(dsn)
        await servers.start("table", replica.code)


async def decides(replica: Replica) -> None:
    """Wait until a replica has decided and stored a good share of what ten tables do."""

    async def many() -> bool:
        page = await page_at(replica.metrics)
        return page.value("baohuang_commands_total", outcome="ACCEPTED") > MANY

    await eventually(many, 120)


async def further(dsn: str) -> None:
    """Wait until some more was played."""
    before = await position(dsn)

    async def moved() -> bool:
        return await position(dsn) > before + 200

    await eventually(moved, 120)


async def position(dsn: str) -> int:
    """Return how long the log is."""
    return int(await fetched(dsn, "select coalesce(max(position), 0) from eventlog.events"))
