import asyncio
import contextlib

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from baohuang.eventlog.memory import MemoryLog
from baohuang.gen.table.v1 import watch_pb2
from eventually import eventually
from table_service.wiring import SERVICES
from tables.clients import Client, open_table, ready
from tables.games import Game, seated
from tables.logs import SlowToAnswer
from tables.replicas import Replica, replica
from tables.viewers import Viewer

DRAINING = watch_pb2.RECONNECT_REASON_DRAINING
AGE = watch_pb2.RECONNECT_REASON_CONNECTION_AGE


async def test_each_watcher_is_sent_away_after_all_there_was(service: Replica) -> None:
    """A Reconnect with the last version sent, behind every event, then the end of the stream with status OK."""
    game = await seated(service)
    viewers = [Viewer(Client(service.channel, f"w{number}"), game.table_id) for number in range(20)]
    watching = [asyncio.create_task(viewer.watch(lambda: False)) for viewer in viewers]
    for viewer in viewers:
        await viewer.opened.wait()
    await game.clients[0].call(ready(game.table_id))
    service.hub.drain()
    await asyncio.wait_for(asyncio.gather(*watching), 5)
    version = (await game.head()).version
    for viewer in viewers:
        assert [response.WhichOneof("message") for response in viewer.received] == ["snapshot", "update", "reconnect"]
        assert viewer.received[-1].reconnect == watch_pb2.Reconnect(version=version, reason=DRAINING)


async def test_who_comes_while_draining_is_sent_away_with_what_he_asked_for(service: Replica) -> None:
    """Snapshot, or missed events and a sign of life, then Reconnect; nobody is left without an end."""
    game = await seated(service)
    await game.all_ready()
    head = await game.head()
    service.hub.drain()
    for after, kinds in ((None, ["snapshot"]), (head.version - 2, ["update", "update"]), (head.version, [])):
        stream = game.clients[0].watch(game.table_id, after)
        received = [response async for response in stream]
        alive = ["heartbeat"] if after else []
        assert [response.WhichOneof("message") for response in received] == [*kinds, *alive, "reconnect"]
        assert received[-1].reconnect == watch_pb2.Reconnect(version=head.version, reason=DRAINING)
        assert await stream.code() is grpc.StatusCode.OK


async def test_calls_under_way_are_answered(log: MemoryLog) -> None:
    """Fifty commands whose append has not answered when the drain begins: each gets its outcome within the grace."""
    slow = SlowToAnswer(log)
    async with replica(slow, drain_grace_seconds=5.0) as service:
        client = Client(service.channel, "an")
        slow.hold()
        calls = [asyncio.ensure_future(client.call(open_table())) for _ in range(50)]
        await eventually(lambda: has_tables(log, 50))
        service.hub.drain()
        draining = asyncio.create_task(service.server.drain())
        await eventually(lambda: is_refused(service))
        slow.release()
        replies = await asyncio.gather(*calls)
        await draining
        assert {reply.table_id for reply in replies} == {head.stream_id for head in await log.list_heads()}


async def has_tables(log: MemoryLog, tables: int) -> bool:
    """Tell whether so many tables are stored."""
    return len(await log.list_heads()) == tables


async def is_refused(service: Replica) -> bool:
    """Tell whether the server takes no more connections."""
    async with grpc.aio.insecure_channel(service.address, options=(("grpc.use_local_subchannel_pool", 1),)) as channel:
        try:
            await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(service=SERVICES[0]))
        except grpc.aio.AioRpcError as error:
            return error.code() is grpc.StatusCode.UNAVAILABLE
        return False


async def test_a_call_abandoned_during_the_drain_is_stored(log: MemoryLog) -> None:
    """The grace period ends before the append answers: the call is cut, its command finished before the log closes."""
    slow = SlowToAnswer(log)
    async with replica(slow, drain_grace_seconds=0.1) as service:
        slow.hold()
        call = Client(service.channel, "an").start(open_table())
        await slow.appended.wait()
        service.hub.drain()
        await service.server.drain()
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call
        assert caught.value.code() in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED}
        slow.release()
    assert await has_tables(log, 1)


async def test_streams_end_themselves_and_grpc_cuts_none(log: MemoryLog) -> None:
    """At a connection's age a Reconnect with that reason and the last version, then OK.

    Streams follow each other without a pause, so that some are opened shortly before their connection's age is up and
    outlast it by nearly a whole stream: grpc lets them.
    """
    async with replica(log, max_connection_age_seconds=0.8) as service:
        game = await seated(service)
        version = (await game.head()).version
        endings = await asyncio.gather(*(watch_again(service, game, delay / 4) for delay in range(4)))
        for kinds, reconnect in (ending for some in endings for ending in some):
            assert kinds == ["heartbeat", "reconnect"]
            assert reconnect == watch_pb2.Reconnect(version=version, reason=AGE)


async def watch_again(
    service: Replica, game: Game, first_after: float
) -> list[tuple[list[str | None], watch_pb2.Reconnect]]:
    """Watch three times, one stream after the other, and tell what each brought."""
    client, version, ended = Client(service.channel, "spectator"), (await game.head()).version, []
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(asyncio.Event().wait(), first_after)
    for _ in range(3):
        received = [response async for response in client.watch(game.table_id, version)]
        ended.append(([response.WhichOneof("message") for response in received], received[-1].reconnect))
    return ended
