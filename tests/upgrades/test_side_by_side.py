"""Replicas of this tree and of the release before, on one database, while many tables play."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack

import pytest

from command_line.migrating import migrate_all
from command_line.service_process import ServiceProcess
from command_line.services import BESIDE_TABLES, RATING, SCORING, TABLE
from eventually import eventually
from up.connections import connections_of
from upgrades.crowds import check_unharmed, crowds, play_all
from upgrades.fleet import THIS, Code, Fleet
from upgrades.settled import all_settled, check_all

TABLES = 10
MANY = 50


@pytest.mark.timeout(900)
async def test_ten_tables_play_through_an_upgrade(servers: Fleet, before: Code) -> None:
    """Replicas of both releases decide the same tables, and each is killed and comes back: no hand is lost or harmed.

    Scoring of one release feeds rating of the other, then the other way round; all agrees in the end.
    """
    await asyncio.to_thread(migrate_all, servers.dsn, BESIDE_TABLES)
    tables = await servers.start((TABLE, before), (TABLE, THIS))
    booking = await servers.start((SCORING, before), (RATING, THIS))
    async with AsyncExitStack() as stack:
        address = servers.address(TABLE)
        first = await crowds(stack, address, TABLES, "a")
        await check_shared(address, tables)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(play_all(first))
            tasks.create_task(killed_in_turn(servers, tables))
        await all_settled(servers.dsn)
        await servers.stop(*booking)
        await servers.start((SCORING, THIS), (RATING, before))
        await play_all(first[:2])
    await check_all(servers.dsn)
    await check_unharmed(servers.dsn, TABLES + 2)


async def check_shared(address: str, tables: Sequence[ServiceProcess]) -> None:
    """Check that players of the tables are connected to both replicas."""
    port = int(address.rpartition(":")[2])
    assert min(connections_of([process.child.pid for process in tables], port).values()) > 0


async def killed_in_turn(servers: Fleet, tables: Sequence[ServiceProcess]) -> None:
    """Kill each replica in the middle of play, and start it again once the hands went on without it.

    Each has decided many commands before it is killed.
    """
    for process in tables:
        await decides(servers, process)
        await further(servers)
        await process.kill()
        await further(servers)
        await process.start_again()


async def decides(servers: Fleet, process: ServiceProcess) -> None:
    """Wait until a replica has decided a good share of what ten tables do."""

    async def many() -> bool:
        return await servers.accepted_by(process) > MANY

    await eventually(many, 120)


async def further(servers: Fleet) -> None:
    """Wait until some more was played."""
    before = await position(servers)

    async def moved() -> bool:
        return await position(servers) > before + 200

    await eventually(moved, 120)


async def position(servers: Fleet) -> int:
    """Return how long the log is."""
    return int(await servers.fetched("select coalesce(max(position), 0) from eventlog.events"))
