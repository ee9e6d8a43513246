"""Several replicas of the table service behind one address, as `baohuang up --table-replicas` runs them."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest

from baohuang.embedded.ports import free_port
from baohuang.eventlog.postgres.log import open_log
from command_line.backend import LocalBackend, table_address
from command_line.supervision import supervise
from command_line.surroundings import BackendOptions
from eventually import eventually
from metrics.scraping import page_at
from tables.clients import Client, open_table
from tables.games import PLAYERS, Game
from tables.persistent import all_answered, players_at
from tables.records import check_positions, check_table
from up.connections import connections_of
from up.running import ALONE, processes, up

MANY = 40


@pytest.fixture
async def backend(data: Path) -> AsyncIterator[LocalBackend]:
    """Give a backend with three replicas."""
    options = BackendOptions(data, dev_seed=11, insecure_dev=True, table_replicas=3)
    async with LocalBackend(options) as running:
        yield running


def port_of(address: str) -> int:
    return int(address.rpartition(":")[2])


async def opened_at(address: str) -> str:
    async with grpc.aio.insecure_channel(address) as channel:
        return str((await Client(channel, PLAYERS[0]).call(open_table())).table_id)


async def test_connections_spread_over_the_replicas(backend: LocalBackend) -> None:
    """Forty connections to the one address: every replica has some."""
    port, pids = port_of(backend.table.address), [table.child.pid for table in backend.tables]
    writers = [(await asyncio.open_connection("127.0.0.1", port))[1] for _ in range(MANY)]

    async def all_accepted() -> bool:
        return connections_of(pids, port).total() >= MANY

    await eventually(all_accepted)
    assert min(connections_of(pids, port).values()) > 0
    for writer in writers:
        writer.close()


async def test_a_killed_replica_costs_nobody_a_move(backend: LocalBackend) -> None:
    """The replica with most of the players is killed in mid-hand: they play on at the others, and it comes back.

    Every answer a player got is in the log, once; the hand is finished and its points sum to zero.
    """
    lines: list[str] = []
    keeping = asyncio.create_task(supervise(backend.processes, lines.append))
    table_id = await opened_at(backend.table.address)
    async with players_at(backend.table.address, table_id) as players, asyncio.TaskGroup() as tasks:
        for player in players:
            tasks.create_task(player.sit_and_play())

        async def in_mid_hand() -> bool:
            return len(all_answered(players)) >= 40

        await eventually(in_mid_hand, within=60)
        victim, pid = await kill_the_busiest(backend)
    assert sum(player.broken for player in players) > 0

    async def is_back() -> bool:
        return f"{victim} is up again" in lines

    await eventually(is_back, within=60)
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)
    assert pid not in {table.child.pid for table in backend.tables}
    assert [table.child.exit_code for table in backend.tables] == [None] * 3
    async with open_log(backend.postgres_dsn) as log:
        game = Game(log, table_id, [])
        result = (await game.hand()).result
        assert result is not None
        assert sum(result.points) == 0
        await check_positions(log)
        await check_table(game, all_answered(players))


async def kill_the_busiest(backend: LocalBackend) -> tuple[str, int]:
    """Kill the replica that has most connections, and tell its name and process id."""
    by_pid = {table.child.pid: table for table in backend.tables}
    ((pid, _),) = connections_of(by_pid, port_of(backend.table.address)).most_common(1)
    await by_pid[pid].kill()
    return by_pid[pid].name, pid


async def test_the_address_stays_whatever_the_number(data: Path) -> None:
    """Three replicas at a port of our choice, then one, then three: the same address; none is left of them.

    The folder says where it is from the first on; each replica has a folder and its name in the log.
    """
    wanted = free_port()
    for number, port in (("3", str(wanted)), ("1", "0"), ("3", "0")):
        async with up(data, *ALONE, "--table-replicas", number, "--port", port) as started:
            await started.ready()
            assert started.address == table_address(data) == f"127.0.0.1:{wanted}"
            await started.opens_a_table()
            assert await started.interrupt() == 0
        assert processes(data) == {}
    for name in ("table-1", "table-2", "table-3"):
        lines = [line for line in (data / name / "log").read_text().splitlines() if line.startswith("{")]
        assert {json.loads(line)["replica"] for line in lines} == {name}


async def test_each_replica_tells_its_own_metrics(data: Path) -> None:
    """Where it is printed, and the same at the next start; an address in the environment of `up` is not theirs."""
    printed: list[dict[str, str]] = []
    told = {"BAOHUANG_METRICS_LISTEN": f"127.0.0.1:{free_port()}"}
    for _ in range(2):
        async with up(data, "--metrics", "--table-replicas", "2", *ALONE, environment=told) as started:
            await started.ready()
            printed.append(dict(re.findall(r"metrics of (\S+) +http://127.0.0.1:(\d+)/metrics", started.printed)))
            for port in printed[-1].values():
                assert "baohuang_tables_held" in (await page_at(int(port))).families
    assert printed[0] == printed[1]
    assert printed[0].keys() == {"table-1", "table-2"}
