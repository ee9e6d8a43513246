"""Whoever has a seat at a table has one stream of it, the one he opened last; others have as many as they like."""

import asyncio
from pathlib import Path

import grpc
import pytest

from baohuang.client import DevelopmentIdentity, TakenOverError, connect
from baohuang.embedded.nats import EmbeddedNats
from baohuang.eventlog.memory import MemoryLog
from baohuang.gen.table.v1 import watch_pb2
from baohuang.rules.state import PlayerId, TableId
from eventually import eventually
from table_service.pokes import OnNats
from tables.clients import Client, ready
from tables.games import PLAYERS, Game, seated, started
from tables.replicas import Replica, replica
from tables.viewers import Viewer


async def test_a_second_stream_of_a_sitter_takes_over(service: Replica) -> None:
    """The older one has everything up to then and a last message that says so, and ends OK; the newer one goes on."""
    game = await seated(service)
    older = game.clients[0].watch(game.table_id)
    version = (await older.read()).snapshot.version
    await game.clients[1].call(ready(game.table_id))
    newer = game.clients[0].watch(game.table_id, version)
    assert (await newer.read()).update.version == version + 1
    last = [await older.read(), await older.read()]
    assert await older.read() is grpc.aio.EOF  # type: ignore[attr-defined] # missing in the stubs
    assert [response.WhichOneof("message") for response in last] == ["update", "taken_over"]
    assert last[-1].taken_over == watch_pb2.TakenOver(version=version + 1)
    assert await older.code() is grpc.StatusCode.OK
    await game.clients[2].call(ready(game.table_id))
    assert (await newer.read()).heartbeat.version == version + 1
    assert (await newer.read()).update.version == version + 2
    newer.cancel()


async def test_who_plays_the_hand_takes_over_too(service: Replica) -> None:
    """In a hand it is the same: of three streams the last one is left."""
    game = await started(service)
    streams = [game.clients[3].watch(game.table_id) for _ in range(3)]
    for stream in streams:
        await eventually(lambda: watching(service, game, 1))
        first = await stream.read()
        assert first.HasField("snapshot")
    for stream in streams[:2]:
        assert (await stream.read()).HasField("taken_over")
    await eventually(lambda: watching(service, game, 1))
    streams[2].cancel()


async def test_spectators_have_many_streams(service: Replica) -> None:
    """Nobody takes anything over without a seat, be it a stranger or one who sits elsewhere."""
    game = await started(service)
    viewers = [Viewer(Client(service.channel, "stranger"), game.table_id) for _ in range(3)]
    tasks = [asyncio.create_task(viewer.watch(lambda: False)) for viewer in viewers]
    await eventually(lambda: watching(service, game, 3))
    service.hub.drain()
    await asyncio.gather(*tasks)
    assert all(not response.HasField("taken_over") for viewer in viewers for response in viewer.received)


async def test_a_stream_on_another_replica_takes_over(service: Replica) -> None:
    """Heard of from another replica: what is older here ends, what is newer stays."""
    game = await started(service)
    table_id, player = TableId(game.table_id), PlayerId(PLAYERS[0])
    stream = game.clients[0].watch(table_id)
    await stream.read()
    service.hub.taken_elsewhere(table_id, player, "00000000-0000-7000-8000-000000000000")
    service.hub.taken_elsewhere(table_id, PlayerId(PLAYERS[1]), "ffffffff-ffff-7fff-bfff-ffffffffffff")
    assert await watching(service, game, 1)
    service.hub.taken_elsewhere(table_id, player, "ffffffff-ffff-7fff-bfff-ffffffffffff")
    assert (await stream.read()).HasField("taken_over")
    assert await stream.read() is grpc.aio.EOF  # type: ignore[attr-defined] # missing in the stubs


async def test_replicas_tell_each_other(log: MemoryLog, tmp_path: Path) -> None:
    """A player goes over to another replica, and back: each time his older stream ends, told over NATS."""
    nats = EmbeddedNats(tmp_path)
    url = await nats.start()
    try:
        async with (
            replica(log, nats=OnNats(url, "a")) as here,
            replica(log, nats=OnNats(url, "b")) as there,
        ):
            game = await started(here)
            await eventually(lambda: takes_over(here, there, game))
            await eventually(lambda: takes_over(there, here, game))
    finally:
        await nats.destroy()


async def takes_over(older: Replica, newer: Replica, game: Game) -> bool:
    """Open a stream on one replica and then on the other, and tell whether the first ended as taken over.

    It does not while they are not connected to NATS yet.
    """
    first, second = (Client(one.channel, PLAYERS[0]).watch(game.table_id) for one in (older, newer))
    await first.read()
    await second.read()
    try:
        return bool((await asyncio.wait_for(first.read(), 0.5)).HasField("taken_over"))
    except TimeoutError:
        return False
    finally:
        first.cancel()
        second.cancel()


async def watching(service: Replica, game: Game, streams: int) -> bool:
    """Tell whether the table has so many streams."""
    return len(service.hub._watching.get(TableId(game.table_id), ())) == streams


async def test_the_client_does_not_fight_back(log: MemoryLog) -> None:
    """The first watch raises TakenOverError, once, and opens no other stream; the second one lives on."""
    async with replica(log) as service:
        game = await started(service)
        table_id, identity = TableId(game.table_id), DevelopmentIdentity(PlayerId(PLAYERS[0]))
        async with connect(service.address, identity) as one, connect(service.address, identity) as other:
            first = one.watch(table_id)
            moment = await anext(first)
            second = other.watch(table_id)
            assert (await anext(second)).version == moment.version
            with pytest.raises(TakenOverError) as caught:
                await anext(first)
            assert caught.value.version == moment.version
            assert await watching(service, game, 1)
            await second.aclose()
