import asyncio
from collections.abc import Awaitable, Sequence
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message

from baohuang.eventlog import chain
from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import NO_VERSION, Append, Outcome, StoredEvent, StreamId, Version
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.gen.table.v1 import watch_pb2
from baohuang.rules.phases.asking import seats_to_act
from bench.random_player import chance_of, choose
from tables.changes import CHANGES, Change, outcome_of
from tables.clients import Client, act, open_table, refusal, sit
from tables.games import opened, started
from tables.logs import FrontLog, Losing, Silent, SlowToAnswer
from tables.replicas import Replica, replica
from tables.viewers import Viewer


async def failure(call: Awaitable[Any]) -> grpc.StatusCode:
    """Wait for a call that has to fail, and give its code."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return caught.value.code()


async def stored(log: FrontLog, change: Change) -> list[StoredEvent]:
    """Return the events that the change brought about."""
    events = await log.read_all(limit=10_000)
    return [event for event in events if event.request_id == change.request.request_id]


async def check_retry(log: FrontLog, change: Change) -> None:
    """Check that the change was stored once and that a retry tells its outcome and stores nothing."""
    before = await stored(log, change)
    reply = await change.client.call(change.request)
    assert outcome_of(reply) == (before[-1].stream_id, before[-1].version, before[-1].hash)
    assert await stored(log, change) == before


@pytest.mark.parametrize("name", CHANGES)
async def test_the_deadline_passes_after_the_commit(log: MemoryLog, name: str) -> None:
    """The client gives up while the answer is on its way: the retry gets the first outcome."""
    slow = SlowToAnswer(log)
    async with replica(slow) as service:
        change = await CHANGES[name](service)
        slow.hold()
        assert await failure(change.client.call(change.request, seconds=0.1)) is grpc.StatusCode.DEADLINE_EXCEEDED
        await slow.appended.wait()
        slow.release()
        await check_retry(slow, change)


@pytest.mark.parametrize("name", CHANGES)
async def test_the_client_cancels_after_the_commit(log: MemoryLog, name: str) -> None:
    """A cancelled call does not cancel its command; a retry while the first attempt still hangs waits for it."""
    slow = SlowToAnswer(log)
    async with replica(slow) as service:
        change = await CHANGES[name](service)
        slow.hold()
        call = change.client.start(change.request)
        await slow.appended.wait()
        call.cancel()
        retry = asyncio.create_task(check_retry(slow, change))
        slow.release()
        await retry


@pytest.mark.parametrize("name", CHANGES)
async def test_the_connection_to_the_log_breaks_after_the_commit(log: MemoryLog, name: str) -> None:
    """The service does not know the outcome and says so (LOG_UNAVAILABLE); the retry tells it, and watchers get it."""
    losing = Losing(log)
    async with replica(losing) as service:
        change = await CHANGES[name](service)
        viewer = Viewer(Client(service.channel, "spectator"), change.game.table_id)
        watching = asyncio.create_task(viewer.watch(lambda: viewer.version >= last_of(log, viewer.table_id)))
        await viewer.opened.wait()
        losing.losing = True
        refused = await change.client.refused(change.request)
        assert (refused.code, refused.reason) == (grpc.StatusCode.UNAVAILABLE, "LOG_UNAVAILABLE")
        losing.losing = False
        await check_retry(losing, change)
        await asyncio.wait_for(watching, 5)


def last_of(log: MemoryLog, table_id: str) -> int:
    """Return the version of a table's last event."""
    return len(log._streams[table_id])  # type: ignore[index] # a table's id is its stream's


async def test_nothing_is_known_to_be_stored_while_the_log_is_silent(log: MemoryLog) -> None:
    """Every method answers UNAVAILABLE, LOG_UNAVAILABLE, and none INTERNAL; afterwards all is as if never asked."""
    silent = Silent(log)
    async with replica(silent) as service:
        changes = [await prepare(service) for prepare in CHANGES.values()]
        before, table = await log.read_all(limit=10_000), changes[-1].game.table_id
        silent.silent = True
        asked: list[Message] = [change.request for change in changes]
        asked += [pb.GetTableRequest(table_id=table), pb.ListTablesRequest()]
        for request in asked:
            change = next((one for one in changes if one.request is request), changes[0])
            refused = await change.client.refused(request)
            assert (refused.code, refused.reason) == (grpc.StatusCode.UNAVAILABLE, "LOG_UNAVAILABLE")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await anext(aiter(changes[0].client.start(watch_pb2.WatchTableRequest(table_id=table))))
        assert refusal(caught.value).reason == "LOG_UNAVAILABLE"
        silent.silent = False
        assert await log.read_all(limit=10_000) == before
        for change in changes:
            await change.client.call(change.request)
            assert await stored(silent, change)


async def test_a_table_opened_cannot_be_shown_while_the_log_is_silent(log: MemoryLog) -> None:
    """OpenTable's retry on another replica, the log failing between its outcome and its table: UNAVAILABLE."""
    request = open_table()
    async with replica(log) as first:
        reply = await Client(first.channel, "an").call(request)
    forgetful = Forgetful(log)
    async with replica(forgetful) as second:
        client = Client(second.channel, "an")
        forgetful.silent = True
        refused = await client.refused(request)
        assert (refused.code, refused.reason) == (grpc.StatusCode.UNAVAILABLE, "LOG_UNAVAILABLE")
        forgetful.silent = False
        assert await client.call(request) == reply


class Forgetful(Silent):
    """While `silent`, finds outcomes and takes appends, but gives no table."""

    async def append(self, command: Append) -> Outcome:
        """See `EventLog.append`."""
        return await self.behind.append(command)

    async def read_stream(
        self, stream_id: StreamId, after_version: Version = NO_VERSION, limit: int = 1000
    ) -> Sequence[StoredEvent]:
        """See `EventLog.read_stream`."""
        return await self.behind.read_stream(stream_id, after_version, limit)


async def test_calls_cancelled_at_any_moment(either: Replica) -> None:
    """Each call is cancelled some moments after it was sent, then retried: one outcome; the chain is right.

    A watcher gets every event of it, in order and once.
    """
    game, chance = await started(either), chance_of("cancelled")
    viewer = Viewer(Client(either.channel, "spectator"), game.table_id)
    ended = asyncio.Event()
    watching = asyncio.create_task(viewer.watch(ended.is_set))
    for moments in range(60):
        table, hand = await game.table(), await game.hand()
        seat = chance.choice(seats_to_act(hand))
        client, move = game.clients[seat], act(game.table_id, choose(table, seat, chance))
        call = client.start(move)
        for _ in range(moments % 20):
            await asyncio.sleep(0)
        call.cancel()
        reply = await client.call(move)
        mine = [event for event in await game.events() if event.request_id == move.request_id]
        assert (reply.version, reply.hash) == (mine[-1].version, mine[-1].hash)
        assert {event.version for event in mine} == set(range(mine[0].version, reply.version + 1))
    events, head = await game.events(), await game.head()
    chain.verify_end(chain.verify(chain.start(head.stream_id), events), head)
    ended.set()
    await game.step(chance)
    await asyncio.wait_for(watching, 10)
    assert viewer.version >= head.version


async def test_an_abandoned_call_is_carried_out(log: MemoryLog) -> None:
    """Nobody retries: the command under way is stored all the same, and the watcher of the table is told."""
    slow = SlowToAnswer(log)
    async with replica(slow) as service:
        game = await opened(service)
        viewer = Viewer(Client(service.channel, "spectator"), game.table_id)
        watching = asyncio.create_task(viewer.reach((await game.head()).version + 1))
        await viewer.opened.wait()
        slow.hold()
        call = game.clients[0].start(sit(game.table_id, 0))
        await slow.appended.wait()
        call.cancel()
        slow.release()
        await asyncio.wait_for(watching, 5)
        assert (await game.table()).seats[0].player == game.clients[0].player
