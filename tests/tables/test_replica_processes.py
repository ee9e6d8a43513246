"""Replicas of the table service as processes of their own, over one real database and one real nats-server."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import grpc
import pytest

from baohuang.embedded.nats import EmbeddedNats
from baohuang.embedded.ports import free_port
from baohuang.eventlog.postgres.log import PostgresLog, open_log
from baohuang.gen.rules.v1 import ruleset_pb2
from baohuang.rules.phases.asking import seats_to_act
from bench.random_player import chance_of, choose
from command_line.service_process import ServiceProcess
from command_line.services import TABLE
from eventually import eventually
from tables.clients import Client, act, open_table
from tables.games import PLAYERS, Game
from tables.persistent import QUICK, Persistent, all_answered, players_at
from tables.records import check_positions, check_table
from tables.viewers import Viewer

TABLES = 2
TURN_SECONDS = 60
BLAMES = {"TrusteeshipEntered", "TurnExtended", "PlayerFined"}


@pytest.fixture
async def nats_url(tmp_path: Path) -> AsyncIterator[str]:
    """Give the URL of a running nats-server."""
    server = EmbeddedNats(tmp_path / "servers")
    yield await server.start()
    await server.destroy()


@pytest.fixture
async def replicas(own_database_dsn: str, nats_url: str, tmp_path: Path) -> AsyncIterator[Sequence[ServiceProcess]]:
    """Give three replicas that share one address."""
    environment = {
        "BAOHUANG_POSTGRES_DSN": own_database_dsn,
        "BAOHUANG_NATS_URL": nats_url,
        "BAOHUANG_INSECURE_DEV": "true",
        "BAOHUANG_DEV_SEED": "11",
        "BAOHUANG_SHARE_PORT": "true",
        "BAOHUANG_DRAIN_GRACE_SECONDS": "5",
    }
    port = free_port()
    named = [replace(TABLE, name=f"table-{number}") for number in (1, 2, 3)]
    started = [ServiceProcess(service, tmp_path, environment, port) for service in named]
    async with AsyncExitStack() as stack:
        for service in started:
            stack.push_async_callback(service.stop)
        await asyncio.gather(*(service.start() for service in started))
        yield started


@pytest.fixture
async def durable_log(own_database_dsn: str) -> AsyncIterator[PostgresLog]:
    """Give the log under them."""
    async with open_log(own_database_dsn) as log:
        yield log


async def test_rolling_restarts_under_load(replicas: Sequence[ServiceProcess], durable_log: PostgresLog) -> None:
    """Each of three replicas is stopped and started in its turn while hands are played, two at a time.

    Every acknowledged move is in the log, once; every hand comes to its end; nobody's seat is given to the trustee and
    nobody is fined.
    """
    load = Load(replicas[0].address)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(restart_each(replicas, load))
        for _ in range(TABLES):
            tasks.create_task(load.play_hands())
    assert sum(player.broken for five in load.players.values() for player in five) > 0
    await check_positions(durable_log)
    for table_id, five in load.players.items():
        game = Game(durable_log, table_id, [])
        await check_table(game, all_answered(five))
        assert (await game.hand()).result is not None
        assert {event.type for event in await game.events()}.isdisjoint(BLAMES)


@dataclass(slots=True)
class Load:
    """Hands played at the address one after another, each at a table of its own, until it is enough."""

    address: str
    enough: bool = False
    players: dict[str, list[Persistent]] = field(default_factory=dict)

    async def play_hands(self) -> None:
        """Play one hand after another, the last one to its end."""
        while not self.enough:
            table_id = await opened_at(self.address)
            async with players_at(self.address, table_id) as five:
                self.players[table_id] = five
                await asyncio.gather(*(player.sit_and_play() for player in five))

    def answers(self) -> int:
        """Tell how many answers all players got."""
        return sum(len(all_answered(five)) for five in self.players.values())


async def restart_each(replicas: Sequence[ServiceProcess], load: Load) -> None:
    """Restart one replica after another, each once the players got ten more answers."""
    for replica in replicas:
        wanted = load.answers() + 10

        async def played_on(wanted: int = wanted) -> bool:
            return load.answers() >= wanted

        await eventually(played_on, within=60)
        await replica.stop()
        assert replica.child.exit_code == 0
        await replica.start()
    load.enough = True


async def opened_at(address: str) -> str:
    """Open a table with turns of a minute."""
    opening = open_table()
    opening.options.CopyFrom(ruleset_pb2.Options(turn_seconds=TURN_SECONDS, declare_seconds=TURN_SECONDS))
    async with grpc.aio.insecure_channel(address, options=QUICK) as channel:
        host = Persistent(Client(channel, PLAYERS[0]), "", 0, chance_of("host"))
        return (await host.insist(opening)).table_id


async def test_fifty_events_after_a_reconnect_to_anywhere(
    replicas: Sequence[ServiceProcess], durable_log: PostgresLog
) -> None:
    """A watcher's replica is killed; he watches on wherever the address leads him: fifty events arrive, each once.

    The moves are made over five other connections, on whatever replicas those are.
    """
    address, chance = replicas[0].address, chance_of("anywhere")
    async with players_at(address, await opened_at(address)) as five:
        game = Game(durable_log, five[0].viewer.table_id, [player.client for player in five])
        await game.seat_all()
        await game.all_ready()
        async with AsyncExitStack() as stack:
            first, second = [
                await stack.enter_async_context(grpc.aio.insecure_channel(address, options=QUICK)) for _ in range(2)
            ]
            viewer = Viewer(Client(first, "watcher"), game.table_id)
            stale = asyncio.create_task(viewer.reach(10_000))
            await viewer.opened.wait()
            seen = viewer.version
            for replica in replicas:
                await replica.kill()
                await replica.start()
            with pytest.raises(grpc.aio.AioRpcError):
                await stale
            viewer.client = Client(second, "watcher")
            viewer.opened.clear()
            watching = asyncio.create_task(viewer.reach(seen + 50))
            await viewer.opened.wait()
            while (await game.head()).version < seen + 50:
                (seat, *_) = seats_to_act(await game.hand())
                await five[seat].insist(act(game.table_id, choose(await game.table(), seat, chance)))
            await asyncio.wait_for(watching, 30)
    assert [update.version for update in viewer.updates] == list(range(seen + 1, seen + 51))
