from typing import Final

import grpc
import pytest

from baohuang.eventlog.memory import MemoryLog
from baohuang.gen.table.v1 import play_pb2, watch_pb2
from baohuang.gen.table.v1 import table_service_pb2 as pb
from eventually import eventually
from table_service.wiring import Limits
from tables.clients import SECONDS, open_table, ready
from tables.games import seated
from tables.logs import SlowToAnswer
from tables.play_streams import PlayStream, ended, playing, watch
from tables.replicas import Replica, replica

_AGE_SECONDS: Final = 0.8


@pytest.mark.parametrize("raw", [b"\xff\xff\xff", b""])
async def test_a_message_that_is_none_ends_the_stream_behind_the_answers(service: Replica, raw: bytes) -> None:
    """Bytes that are no PlayRequest, and one that asks nothing: what came before is answered, then INVALID_ARGUMENT."""
    async with playing(service.channel, "an", encode=bytes) as stream:
        await stream.call.write(pb.PlayRequest(open_table=open_table()).SerializeToString())
        await stream.call.write(raw)
        assert await ended(stream) is grpc.StatusCode.INVALID_ARGUMENT
    assert [type(answer) for answer in stream.answers] == [play_pb2.Accepted]


async def test_closing_ones_side_ends_the_stream_behind_the_answers(log: MemoryLog) -> None:
    """Everything sent is answered, whatever takes long about it; then the stream ends with OK."""
    slow = SlowToAnswer(log)
    async with replica(slow) as service, playing(service.channel, "an") as stream:
        slow.hold()
        await stream.send(*(open_table() for _ in range(5)))
        await stream.call.done_writing()
        await eventually(lambda: _has_tables(log, 5))
        slow.release()
        assert await ended(stream) is grpc.StatusCode.OK
    assert {answer.table_id for answer in stream.answers} == {head.stream_id for head in await log.list_heads()}


async def test_commands_of_a_stream_that_is_gone_are_carried_out(log: MemoryLog) -> None:
    """He cancels while his command waits for its append: it is stored, others are told, his retry gets its outcome."""
    slow = SlowToAnswer(log)
    async with replica(slow) as service:
        game = await seated(service)
        async with playing(service.channel, "bo") as other, playing(service.channel, "an") as stream:
            await other.send(watch(game.table_id))
            await stream.send(watch(game.table_id))
            await other.read_until(lambda: game.table_id in other.heard)
            await stream.read_until(lambda: game.table_id in stream.heard)
            slow.hold()
            request = ready(game.table_id)
            await stream.send(request)
            await slow.appended.wait()
            stream.call.cancel()
            await eventually(lambda: _watchers(service, 1))
            slow.release()
            await other.read_until(lambda: len(other.versions(game.table_id)) == 1)
        again = await game.clients[0].call(request)
        assert again.version == other.versions(game.table_id)[0]


async def test_a_drain_answers_then_sends_the_stream_away(log: MemoryLog) -> None:
    """Under way is answered; one PlayReconnect with the version of each table; status OK."""
    slow = SlowToAnswer(log)
    async with replica(slow) as service:
        games = [await seated(service), await seated(service)]
        async with playing(service.channel, "an") as stream:
            await stream.send(*(watch(game.table_id) for game in games))
            await stream.read_until(lambda: len(stream.heard) == 2)
            slow.hold()
            await stream.send(ready(games[0].table_id))
            await slow.appended.wait()
            service.hub.drain()
            slow.release()
            assert await ended(stream) is grpc.StatusCode.OK
        assert [type(answer) for answer in stream.answers] == [play_pb2.Accepted]
        assert stream.reconnect is not None
        assert stream.reconnect.reason == watch_pb2.RECONNECT_REASON_DRAINING
        sent = {one.table_id: one.version for one in stream.reconnect.tables}
        assert sent == {game.table_id: _last_version(stream, game.table_id) for game in games}


async def test_who_comes_while_draining_is_sent_away(service: Replica) -> None:
    """A stream that opens late gets its PlayReconnect and the end."""
    service.hub.drain()
    async with playing(service.channel, "an") as stream:
        assert await ended(stream) is grpc.StatusCode.OK
        assert stream.reconnect is not None


async def test_a_stream_that_watches_nothing_is_sent_away_at_its_age(log: MemoryLog) -> None:
    """A PlayReconnect with that reason, no table in it, and OK: grpc cuts no stream for its connection's age."""
    async with replica(log, max_connection_age_seconds=_AGE_SECONDS) as service:
        await _let_age(service)


async def test_what_is_under_way_at_its_age_is_answered_before(log: MemoryLog) -> None:
    """A command whose append takes longer than the stream lasts: its answer, then the PlayReconnect."""
    slow = SlowToAnswer(log)
    async with replica(
        slow, max_connection_age_seconds=_AGE_SECONDS, max_connection_age_grace_seconds=SECONDS
    ) as service:
        async with playing(service.channel, "an") as stream:
            slow.hold()
            await stream.send(open_table())
            await slow.appended.wait()
            # Two that come after it, one after the other, last longer than it does, whatever a lifetime is spread by.
            await _let_age(service)
            await _let_age(service)
            slow.release()
            assert await ended(stream) is grpc.StatusCode.OK
        assert [type(answer) for answer in stream.answers] == [play_pb2.Accepted]
        assert _sent_away(stream) == (watch_pb2.RECONNECT_REASON_CONNECTION_AGE, [])


async def test_a_stream_ages_however_young_its_watches_are(log: MemoryLog) -> None:
    """Who begins his watch anew again and again is sent away all the same, with the version he was brought to."""
    limits = Limits(away_seconds=3600.0, heartbeat_seconds=_AGE_SECONDS / 10)
    async with replica(log, limits, max_connection_age_seconds=_AGE_SECONDS) as service:
        game = await seated(service)
        async with playing(service.channel, "onlooker") as stream:
            while not _goes(stream):
                await stream.send(watch(game.table_id))
                stream.heard.clear()
                # The snapshot, and its first sign of life.
                await stream.read_until(lambda: _goes(stream) or len(stream.heard.get(game.table_id, ())) == 2)
            assert await ended(stream) is grpc.StatusCode.OK
        version = (await game.head()).version
        assert _sent_away(stream) == (watch_pb2.RECONNECT_REASON_CONNECTION_AGE, [(game.table_id, version)])


async def _let_age(service: Replica) -> None:
    """Open a stream that does nothing, and wait until it is sent away for its age."""
    async with playing(service.channel, "idle") as stream:
        assert await ended(stream) is grpc.StatusCode.OK
        assert _sent_away(stream) == (watch_pb2.RECONNECT_REASON_CONNECTION_AGE, [])


def _goes(stream: PlayStream) -> bool:
    return stream.reconnect is not None


def _sent_away(stream: PlayStream) -> tuple["watch_pb2.ReconnectReason.ValueType", list[tuple[str, int]]]:
    assert stream.reconnect is not None
    return stream.reconnect.reason, [(one.table_id, one.version) for one in stream.reconnect.tables]


def _last_version(stream: PlayStream, table_id: str) -> int:
    return (stream.versions(table_id) or [stream.heard[table_id][0].snapshot.version])[-1]


async def _has_tables(log: MemoryLog, tables: int) -> bool:
    return len(await log.list_heads(limit=1000)) == tables


async def _watchers(service: Replica, number: int) -> bool:
    return sum(map(len, service.hub._watching.values())) == number
