import asyncio

import grpc
import pytest

from baohuang.eventlog.memory import MemoryLog
from baohuang.rules import commands as cmd
from baohuang.rules.redact import mask
from baohuang.rules.state import TableId
from bench.random_player import chance_of
from eventually import eventually
from table_service.wiring import Limits
from tables.clients import Client, act, ready, refusal
from tables.games import PLAYERS, Game, seated
from tables.replicas import Replica, replica
from tables.viewers import Viewer

ONE_WAITS = Limits(updates_queued=1)
"""Whatever brings two events at once is too much for its watchers."""


async def test_too_slow_once_is_a_snapshot_and_twice_the_end(log: MemoryLog) -> None:
    """One fresh snapshot in place of what did not fit; too slow again at once: RESOURCE_EXHAUSTED, SLOW_READER.

    He can watch again from the version he has, and misses nothing.
    """
    async with replica(log, ONE_WAITS) as service:
        game = await seated(service)
        viewer = Viewer(Client(service.channel, "an"), game.table_id)
        watching = asyncio.create_task(viewer.watch(lambda: False))
        await viewer.opened.wait()
        for client in game.clients[:4]:
            await client.call(ready(game.table_id))
            await eventually(lambda: is_at_the_head(viewer, game))
        await game.clients[4].call(ready(game.table_id))
        await eventually(lambda: is_at_the_head(viewer, game))
        kinds = [response.WhichOneof("message") for response in viewer.received]
        assert kinds == ["snapshot", *["update"] * 4, "snapshot"]
        await enthrone(game)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await watching
        refused = refusal(caught.value)
        assert (refused.code, refused.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "SLOW_READER")
        await viewer.reach((await game.head()).version)
        assert viewer.table == mask(await game.table(), 0)


async def test_who_keeps_up_again_is_forgiven(log: MemoryLog) -> None:
    """Between two overflows he took an update in time: the second is a snapshot again, not the end."""
    async with replica(log, ONE_WAITS) as service:
        game = await seated(service)
        viewer = Viewer(Client(service.channel, "an"), game.table_id)
        watching = asyncio.create_task(viewer.watch(lambda: viewer.version > 30))
        await viewer.opened.wait()
        await game.all_ready()
        await eventually(lambda: is_at_the_head(viewer, game))
        for move in (cmd.Yield(), cmd.Enthrone()):
            turn = (await game.hand()).turn
            assert turn is not None
            await game.clients[turn].call(act(game.table_id, move))
            await eventually(lambda: is_at_the_head(viewer, game))
        kinds = [response.WhichOneof("message") for response in viewer.received]
        assert kinds[-3:] == ["snapshot", "update", "snapshot"]
        watching.cancel()


async def is_at_the_head(viewer: Viewer, game: Game) -> bool:
    """Tell whether the viewer has all there is."""
    return viewer.version == (await game.head()).version


async def enthrone(game: Game) -> None:
    """Let who is asked first take the crown, which brings several events."""
    turn = (await game.hand()).turn
    assert turn is not None
    await game.clients[turn].call(act(game.table_id, cmd.Enthrone()))


async def test_a_reader_who_never_reads_costs_no_more_than_his_queue(log: MemoryLog) -> None:
    """A hand is played before his eyes: his queue stays within its limit, others are not held up, and he is cut off.

    At the latest when his connection's age is up; his subscription is gone then.
    """
    limits = Limits(updates_queued=16)
    serving = replica(log, limits, max_connection_age_seconds=3.0, max_connection_age_grace_seconds=0.5)
    async with serving as service, lazy_channel(service) as channel:
        game = await seated(service)
        lazy = [Client(channel, PLAYERS[0]).watch(game.table_id, seconds=60) for _ in range(40)]
        await eventually(lambda: watchers(service, game, 40))
        await game.all_ready()
        chance = chance_of("lazy")
        subscriptions = list(service.hub._watching[TableId(game.table_id)])
        while not all(one._overflowed for one in subscriptions):
            await game.step(chance)
            assert max(len(one._waiting) for one in subscriptions) <= 16
        await eventually(lambda: watchers(service, game, 0))
        for stream in lazy:
            stream.cancel()


def lazy_channel(service: Replica) -> grpc.aio.Channel:
    """Give a channel whose connection takes in little unasked."""
    options = (
        ("grpc.use_local_subchannel_pool", 1),
        ("grpc.http2.lookahead_bytes", 4096),
        ("grpc.http2.bdp_probe", 0),
        ("grpc.http2.max_frame_size", 16384),
    )
    return grpc.aio.insecure_channel(service.address, options=options)


async def watchers(service: Replica, game: Game, number: int) -> bool:
    """Tell whether so many watch the table."""
    return len(service.hub._watching.get(TableId(game.table_id), ())) == number
