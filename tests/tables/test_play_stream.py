import asyncio

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import Append, EventLog, Outcome
from baohuang.gen.table.v1 import play_pb2, watch_pb2
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.rpc.event_messages import event_from_proto
from baohuang.rpc.messages import from_proto
from baohuang.rules import commands as cmd
from baohuang.rules.evolve import evolve
from baohuang.rules.phases.asking import seats_to_act
from baohuang.rules.redact import mask
from baohuang.rules.state import Table, in_progress
from bench.random_player import chance_of, choose
from eventually import eventually
from table_service.playing.answers import Envelope
from table_service.playing.orders import IN_FLIGHT
from table_service.wiring import Limits
from tables.clients import Client, Refused, act, open_table, ready, refusal, sit, stand
from tables.games import PLAYERS, seated, started
from tables.logs import FrontLog, SlowToAnswer
from tables.play_streams import PlayStream, all_playing, as_call, playing, watch
from tables.replicas import Replica, replica


async def test_a_hand_is_played_over_streams_alone(either: Replica) -> None:
    """Five players, one stream each: every version comes once, in order, and adds up to what the seat may see."""
    game = await seated(either)
    async with all_playing(either.channel, PLAYERS) as streams:
        hands = [_plays(streams[player], game.table_id, seat) for seat, player in enumerate(PLAYERS)]
        seen = await asyncio.wait_for(asyncio.gather(*hands), 60)
    table = await game.table()
    assert [mask(view, seat) for seat, view in enumerate(seen)] == [mask(table, seat) for seat in range(5)]


async def _plays(stream: PlayStream, table_id: str, seat: int) -> Table:
    """Get ready and play to the end of the hand by what comes over the stream; return the table as it was shown."""
    chance = chance_of(seat)
    await stream.send(watch(table_id), ready(table_id))
    table, version, asked_at = None, 0, -1
    while table is None or table.hands_played == 0 or table.commitment is None:
        message = await stream.next_of(table_id)
        if message.HasField("snapshot"):
            table, version = from_proto(message.snapshot, Table), message.snapshot.version
        elif message.HasField("update"):
            assert message.update.version == version + 1
            table, version = evolve(table, event_from_proto(message.update.event)), version + 1
        if table and table.hand and in_progress(table) and seat in seats_to_act(table.hand) and asked_at < version:
            asked_at = version
            await stream.send(act(table_id, choose(table, seat, chance)))
    return table


async def test_commands_to_one_table_keep_their_order(either: Replica) -> None:
    """Sitting down and standing up forty times without waiting for an answer: all accepted, one after the other."""
    game = await seated(either, players=PLAYERS)
    reply = await game.clients[0].call(open_table())
    async with playing(either.channel, "zo") as stream:
        for _ in range(40):
            await stream.send(sit(reply.table_id, 0), stand(reply.table_id))
        await stream.read_until(lambda: len(stream.answers) == 80)
    assert [answer.version for answer in stream.answers if isinstance(answer, play_pb2.Accepted)] == list(
        range(reply.version + 1, reply.version + 81)
    )


class _HoldsOne(FrontLog):
    """Keeps back the appends of one table until it is let go."""

    def __init__(self, behind: EventLog) -> None:
        super().__init__(behind)
        self.held = ""
        self.go = asyncio.Event()

    async def append(self, command: Append) -> Outcome:
        """See `EventLog.append`."""
        if command.stream_id == self.held:
            await self.go.wait()
        return await self.behind.append(command)


async def test_a_table_that_is_held_up_holds_up_no_other(log: MemoryLog) -> None:
    """While the commands to one table wait, those to another are answered; the first come after."""
    front = _HoldsOne(log)
    async with replica(front) as service, playing(service.channel, "an") as stream:
        slow, quick = [(await Client(service.channel, "an").call(open_table())).table_id for _ in range(2)]
        front.held = slow
        await stream.send(sit(slow, 0), ready(slow), sit(quick, 0), ready(quick))
        await stream.read_until(lambda: len(stream.answers) == 2)
        front.go.set()
        await stream.read_until(lambda: len(stream.answers) == 4)
    assert [answer.table_id for answer in stream.answers] == [quick, quick, slow, slow]


async def test_reading_pauses_while_too_many_commands_are_under_way(log: MemoryLog) -> None:
    """Of two hundred commands whose append does not answer 64 are taken; each is carried out in the end."""
    slow = SlowToAnswer(log)
    async with replica(slow) as service, playing(service.channel, "an") as stream:
        slow.hold()
        sending = stream.send(*(open_table() for _ in range(150)))
        writing = asyncio.gather(sending)
        await eventually(lambda: _has_tables(log, IN_FLIGHT))
        await Client(service.channel, "bo").call(pb.ListTablesRequest())
        assert await _has_tables(log, IN_FLIGHT)
        slow.release()
        await stream.read_until(lambda: len(stream.answers) == 150)
        await writing
    assert len(await log.list_heads(limit=1000)) == 150


async def _has_tables(log: MemoryLog, tables: int) -> bool:
    return len(await log.list_heads(limit=1000)) == tables


async def test_each_command_counts_against_the_rate_limit(log: MemoryLog) -> None:
    """Beyond the burst a command is refused as RATE_LIMITED with the wait, and the stream goes on."""
    limited = replica(log, rate_limit_per_second=0.001, rate_limit_burst=4)
    async with limited as service, playing(service.channel, "an") as stream:
        await stream.send(*(open_table() for _ in range(5)), watch("01980000-0000-7000-8000-000000000000"))
        await stream.read_until(lambda: len(stream.answers) == 6)
    refused = [as_call(answer) for answer in stream.answers if isinstance(answer, play_pb2.Refused)]
    assert [(one.code.name, one.reason) for one in refused] == [("RESOURCE_EXHAUSTED", "RATE_LIMITED")] * 3
    assert all(int(one.metadata["retry_after_ms"]) > 0 for one in refused)


async def test_what_a_watch_is_refused_for_is_told_and_ends_nothing(service: Replica) -> None:
    """No such table, a version the table has not reached, an id that is none: Refused with the table, no request id."""
    game = await seated(service)
    async with playing(service.channel, "an") as stream:
        wanted = [
            watch("01980000-0000-7000-8000-000000000000"),
            watch(game.table_id, 999),
            watch("?"),
            watch(game.table_id, -1),
        ]
        for message in wanted:
            answer = await stream.ask(message)
            assert isinstance(answer, play_pb2.Refused)
            assert (answer.request_id, answer.table_id) == ("", message.table_id)
            assert as_call(answer) == await _refused_by_call(service, message)
        await stream.send(watch(game.table_id))
        await stream.read_until(lambda: game.table_id in stream.heard)


async def _refused_by_call(service: Replica, message: play_pb2.Watch) -> Refused:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await Client(service.channel, "an").watch(message.table_id, message.after_version).read()
    return refusal(caught.value)


async def test_a_refused_watch_changes_nothing(service: Replica) -> None:
    """Each of two bad ones sent at once is answered, and who watches the table goes on watching it."""
    game = await seated(service)
    async with playing(service.channel, "spectator") as stream:
        await stream.send(watch(game.table_id))
        opening = await stream.next_of(game.table_id)
        bad = watch(game.table_id, opening.snapshot.version + 900)
        await stream.send(bad, bad)
        await stream.read_until(lambda: len(stream.answers) == 2)
        assert [getattr(answer, "reason", "") for answer in stream.answers] == ["INVALID_FIELD"] * 2
        await game.clients[0].call(ready(game.table_id))
        told = await stream.next_of(game.table_id)
        assert told.update.version == opening.snapshot.version + 1


async def test_a_table_can_be_watched_anew_and_no_longer(service: Replica) -> None:
    """Watched twice, it begins anew and nothing comes double; not watched any more, nothing comes."""
    game, other = await seated(service), await seated(service)
    async with playing(service.channel, "an") as stream:
        await stream.send(watch(game.table_id), watch(other.table_id))
        await stream.read_until(lambda: len(stream.heard) == 2)
        await stream.send(watch(game.table_id))
        await stream.read_until(lambda: len(stream.heard[game.table_id]) == 2)
        await game.clients[1].call(ready(game.table_id))
        await stream.read_until(lambda: stream.versions(game.table_id) != [])
        await stream.send(play_pb2.Unwatch(table_id=game.table_id))
        await eventually(lambda: _watchers(service, 1))
        await game.clients[2].call(ready(game.table_id))
        await other.clients[2].call(ready(other.table_id))
        await stream.read_until(lambda: stream.versions(other.table_id) != [])
    assert [message.WhichOneof("message") for message in stream.heard[game.table_id]] == [
        "snapshot",
        "snapshot",
        "update",
    ]
    await eventually(lambda: _watchers(service, 0))


async def test_tables_watched_over_one_stream_count_as_streams(log: MemoryLog) -> None:
    """Beyond what a player may have open a watch is refused; one that ends makes room, one begun anew needs none."""
    async with replica(log, max_streams_per_player=3) as service, playing(service.channel, "an") as stream:
        games = [await seated(service) for _ in range(3)]
        await stream.send(*(watch(game.table_id) for game in games))
        await stream.read_until(lambda: stream.answers)
        (refused,) = stream.answers
        assert isinstance(refused, play_pb2.Refused)
        assert refused.table_id == games[2].table_id
        assert (as_call(refused).code.name, as_call(refused).reason) == ("RESOURCE_EXHAUSTED", "TOO_MANY_STREAMS")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await Client(service.channel, "an").watch(games[2].table_id, 0).read()
        assert refusal(caught.value).reason == "TOO_MANY_STREAMS"
        await stream.send(watch(games[1].table_id))
        await stream.read_until(lambda: len(stream.heard.get(games[1].table_id, ())) == 2)
        await stream.send(play_pb2.Unwatch(table_id=games[0].table_id))
        await eventually(lambda: _watchers(service, 1))
        await stream.send(watch(games[2].table_id))
        await stream.read_until(lambda: games[2].table_id in stream.heard)
        async with playing(service.channel, "bo") as another:
            await another.send(watch(games[0].table_id))
            await another.read_until(lambda: games[0].table_id in another.heard)


async def _watchers(service: Replica, number: int) -> bool:
    return sum(map(len, service.hub._watching.values())) == number


async def test_an_idle_stream_beats(log: MemoryLog) -> None:
    """With no table watched a heartbeat comes now and then."""
    async with replica(log, Limits(heartbeat_seconds=0.02)) as service, playing(service.channel, "an") as stream:
        await stream.read_until(lambda: stream.heartbeats == 3)


async def test_who_never_reads_is_kept_within_bounds(log: MemoryLog) -> None:
    """A hand before eyes that do not read: what waits for him stays within his watch's queue and little beside."""
    async with replica(log, Limits(updates_queued=16)) as service:
        game = await started(service)
        options = (
            ("grpc.use_local_subchannel_pool", 1),
            ("grpc.http2.lookahead_bytes", 4096),
            ("grpc.http2.bdp_probe", 0),
        )
        async with grpc.aio.insecure_channel(service.address, options=options) as channel:
            stream = PlayStream(channel, "spectator")
            await stream.send(watch(game.table_id))
            await eventually(lambda: _watchers(service, 1))
            (subscription,) = (one for group in service.hub._watching.values() for one in group)
            chance = chance_of("never reads")
            while not subscription._dropped:
                if not in_progress(await game.table()):
                    await game.all_ready()
                await game.step(chance)
                assert len(subscription._waiting) <= 16
            stream.call.cancel()


@given(st.text(max_size=300), st.binary(max_size=40_000))
def test_an_envelope_is_what_protobuf_would_write(table_id: str, recorded: bytes) -> None:
    """Put together from bytes, the message parses to the same as one made of its parts."""
    message = watch_pb2.WatchTableResponse(update=watch_pb2.Update(hash=recorded))
    whole = play_pb2.PlayResponse(table=play_pb2.TableMessage(table_id=table_id, message=message))
    enveloped = Envelope(table_id).around(message.SerializeToString())
    assert enveloped == whole.SerializeToString()


async def test_moves_over_a_stream_reach_watchers_by_call(either: Replica) -> None:
    """A move that is made over a Play stream is an update on a WatchTable stream, and the other way round."""
    game = await started(either)
    watching = game.clients[3].watch(game.table_id)
    version = (await watching.read()).snapshot.version
    turn = (await game.hand()).turn
    assert turn is not None
    async with playing(either.channel, PLAYERS[turn]) as stream:
        answer = await stream.ask(act(game.table_id, cmd.Enthrone()))
        assert isinstance(answer, play_pb2.Accepted)
        while version < answer.version:
            version = (await watching.read()).update.version
    watching.cancel()
