import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import grpc
import pytest

from baohuang.eventlog.memory import MemoryLog
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.rules import commands as cmd
from baohuang.rules.redact import mask
from baohuang.rules.state import TableId, in_progress
from bench.random_player import chance_of
from eventually import eventually
from table_service.watch.subscription import StreamLimits
from table_service.wiring import Limits
from tables.clients import Client, act, fresh, ready, refusal
from tables.games import Game, seated
from tables.replicas import Replica, replica
from tables.viewers import Viewer


@contextmanager
def too_much(service: Replica) -> Iterator[None]:
    """Whatever comes within the block is too much for all who watch."""
    streams = [one for watching in service.hub._watching.values() for one in watching]
    limits = streams[0]._limits
    for one in streams:
        one._limits = StreamLimits(queued=0)
    yield
    for one in streams:
        one._limits = limits


async def test_too_slow_once_is_a_snapshot_and_twice_the_end(log: MemoryLog) -> None:
    """One fresh snapshot in place of what did not fit; too slow again at once: RESOURCE_EXHAUSTED, SLOW_READER.

    He can watch again from the version he has, and misses nothing.
    """
    async with replica(log) as service:
        game = await seated(service)
        viewer = Viewer(Client(service.channel, "an"), game.table_id)
        watching = asyncio.create_task(viewer.watch(lambda: False))
        await viewer.opened.wait()
        for client in game.clients[:4]:
            await client.call(ready(game.table_id))
            await eventually(lambda: is_at_the_head(viewer, game))
        with too_much(service):
            await game.clients[4].call(ready(game.table_id))
        await eventually(lambda: is_at_the_head(viewer, game))
        kinds = [response.WhichOneof("message") for response in viewer.received]
        assert kinds == ["snapshot", *["update"] * 4, "snapshot"]
        with too_much(service):
            await enthrone(game)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await watching
        refused = refusal(caught.value)
        assert (refused.code, refused.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "SLOW_READER")
        await viewer.reach((await game.head()).version)
        assert viewer.table == mask(await game.table(), 0)


async def test_who_keeps_up_again_is_forgiven(log: MemoryLog) -> None:
    """Between two overflows he took an update in time: the second is a snapshot again, not the end."""
    async with replica(log) as service:
        game = await seated(service)
        viewer = Viewer(Client(service.channel, "an"), game.table_id)
        watching = asyncio.create_task(viewer.watch(lambda: viewer.version > 30))
        await viewer.opened.wait()
        with too_much(service):
            await game.clients[0].call(ready(game.table_id))
        await eventually(lambda: is_at_the_head(viewer, game))
        await game.clients[1].call(ready(game.table_id))
        await eventually(lambda: is_at_the_head(viewer, game))
        with too_much(service):
            await game.clients[2].call(ready(game.table_id))
        await eventually(lambda: is_at_the_head(viewer, game))
        kinds = [response.WhichOneof("message") for response in viewer.received]
        assert kinds[-3:] == ["snapshot", "update", "snapshot"]
        watching.cancel()


async def test_a_hand_at_once_is_not_too_much(log: MemoryLog) -> None:
    """Five trustees play a hand to its end in one command: who reads is told every event of it."""
    async with replica(log) as service:
        game = await seated(service)
        viewer = Viewer(Client(service.channel, "spectator"), game.table_id)
        watching = asyncio.create_task(viewer.watch(lambda: bool(viewer.table and viewer.table.hands_played)))
        await viewer.opened.wait()
        await game.all_ready()
        before = await game.head()
        for client in game.clients:
            await client.call(pb.SetTrusteeshipRequest(request_id=fresh(), table_id=game.table_id, active=True))
        await watching
        assert viewer.version - before.version > 256
        assert {response.WhichOneof("message") for response in viewer.received[1:]} == {"update"}


async def is_at_the_head(viewer: Viewer, game: Game) -> bool:
    """Tell whether the viewer has all there is."""
    return viewer.version == (await game.head()).version


async def enthrone(game: Game) -> None:
    """Let who is asked first take the crown, which brings several events."""
    turn = (await game.hand()).turn
    assert turn is not None
    await game.clients[turn].call(act(game.table_id, cmd.Enthrone()))


async def test_a_reader_who_never_reads_is_cut_within_bounded_time(log: MemoryLog) -> None:
    """A hand is played before his eyes: his queue stays within its limit, others are not held up, and he is cut off.

    His subscription is gone then; should he read after all, the first thing behind what was sent is SLOW_READER, and
    he can go on from there.
    """
    limits = Limits(updates_queued=16, stuck_seconds=1.0)
    async with replica(log, limits) as service, lazy_channel(service) as channel:
        game = await seated(service)
        lazy = [Client(channel, f"lazy{number}").watch(game.table_id, seconds=60) for number in range(20)]
        viewers = [Viewer(Client(channel, f"lazy{number}"), game.table_id) for number in range(20)]
        for viewer, stream in zip(viewers, lazy, strict=True):
            viewer.take(await stream.read())
        await game.all_ready()
        chance = chance_of("lazy")
        while in_progress(await game.table()):
            await game.step(chance)
            assert all(len(one._waiting) < 2 * 16 for one in service.hub._watching.get(TableId(game.table_id), ()))
        await eventually(lambda: watchers(service, game, 0))
        for viewer, stream in zip(viewers, lazy, strict=True):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await read_all(viewer, stream)
            refused = refusal(caught.value)
            assert (refused.code, refused.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "SLOW_READER")
        await viewer.reach((await game.head()).version)


async def test_a_second_overflow_ends_a_stream_that_stands_still(log: MemoryLog) -> None:
    """Long before a single write has taken too long: twice the queue's limit has come since."""
    limits = Limits(updates_queued=4, stuck_seconds=600.0)
    async with replica(log, limits) as service, lazy_channel(service) as channel:
        game = await seated(service)
        lazy = Client(channel, "lazy").watch(game.table_id, seconds=60)
        await eventually(lambda: watchers(service, game, 1))
        chance = chance_of("lazy")
        async with asyncio.timeout(60):
            while service.hub._watching:
                await (game.step(chance) if in_progress(await game.table()) else game.all_ready())
        lazy.cancel()


async def test_who_has_nothing_to_read_is_not_cut(log: MemoryLog) -> None:
    """An idle stream waits for events, not for its reader: it goes on however long that takes."""
    async with replica(log, Limits(stuck_seconds=0.05, heartbeat_seconds=0.02)) as service:
        game = await seated(service)
        viewer = Viewer(Client(service.channel, "spectator"), game.table_id)
        await viewer.watch(lambda: len(viewer.received) == 20)


async def read_all(viewer: Viewer, stream: Any) -> None:
    """Let a viewer take in what a stream has for him. Raises AioRpcError at its end."""
    while True:
        viewer.take(await stream.read())


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
