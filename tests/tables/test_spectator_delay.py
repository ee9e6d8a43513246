"""Who does not play a hand sees an event once so many plays came after it, or the hand is over, and never before."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from random import Random

import grpc
import pytest

from baohuang.eventlog.codec import decode
from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import NO_VERSION, StoredEvent, StreamId, Version
from baohuang.gen.rules.v1 import ruleset_pb2
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.rpc.errors import Reason
from baohuang.rules.commands import OpenTable, SetReady, SitDown
from baohuang.rules.evolve import fold
from baohuang.rules.phases.asking import seats_to_act
from baohuang.rules.redact import mask
from baohuang.rules.rulesets import Options
from baohuang.rules.state import PlayerId, Table, TableId, in_progress
from bench.random_player import chance_of, choose
from eventually import eventually
from table_service.curtain import Curtain, Learnt
from table_service.happened import replay_stored
from table_service.tables import Tables
from tables.clients import Client, fresh, refusal, sit
from tables.games import PLAYERS, Game
from tables.logs import FrontLog
from tables.replicas import Replica, replica
from tables.viewers import Viewer, first
from tables.virtual_time import NEVER_POLLS, VirtualTime, keeper

HOW_OFTEN = 0.2
"""Of all steps of a hand, after how many all ways to read are tried."""
SPECTATOR = PlayerId("spectator")
SEATED = tuple(map(PlayerId, PLAYERS))
DELAYS = (1, 2, 7, 100)


def visible(events: Sequence[StoredEvent], version: int, delay: int) -> int:
    """Return the version that spectators see when the table is at one: written from TABLE-1, not from the code."""
    done = [event for event in events if event.version <= version]
    started = max((event.version for event in done if event.type == "HandStarted"), default=0)
    if not started or any(event.type == "HandFinished" and event.version > started for event in done):
        return version
    plays = [event.version for event in done if event.type == "CardsPlayed" and event.version > started]
    return plays[-delay] - 1 if len(plays) >= delay else started - 1


async def two_hands(delay: int) -> Sequence[StoredEvent]:
    """Record two hands at a table with that delay."""
    log, chance = MemoryLog(), chance_of(("delayed", delay))
    async with keeper(log, VirtualTime(), NEVER_POLLS) as replica:
        table_id = TableId("00000000-0000-7000-8000-000000000000")
        await replica.act(table_id, SEATED[0], OpenTable(table_id, "ourgame-simple", Options(spectator_delay=delay)))
        for seat, player in enumerate(SEATED):
            await replica.act(table_id, player, SitDown(seat))
        for _ in range(2):
            for player in SEATED:
                await replica.act(table_id, player, SetReady(ready=True))
            while in_progress(table := await replica.table(table_id)):
                assert table.hand is not None
                seat = chance.choice(seats_to_act(table.hand))
                await replica.act(table_id, SEATED[seat], choose(table, seat, chance))
    return await log.read_stream(StreamId(table_id), limit=10_000)


class Until(FrontLog):
    """A log as it was when the stream was at `version`."""

    def __init__(self, events: Sequence[StoredEvent]) -> None:
        super().__init__(MemoryLog())
        self._events = events
        self.version = len(events)

    async def read_stream(
        self, stream_id: StreamId, after_version: Version = NO_VERSION, limit: int = 1000
    ) -> Sequence[StoredEvent]:
        """See `EventLog.read_stream`."""
        assert stream_id == self._events[0].stream_id
        return self._events[after_version : min(self.version, after_version + limit)]

    async def read_since_last(self, stream_id: StreamId, event_type: str) -> Sequence[StoredEvent]:
        """See `EventLog.read_since_last`."""
        assert stream_id == self._events[0].stream_id
        done = self._events[: self.version]
        begun = max((event.version for event in done if event.type == event_type), default=1)
        return done[begun - 1 :]


@pytest.mark.parametrize("delay", DELAYS)
async def test_a_spectator_sees_exactly_the_visible_prefix(delay: int) -> None:
    """At every version of two hands, of a table that is followed, and of one that is loaded then.

    Loading is tried at every fourth version, others with each delay. What is shown by each event are the next ones, in
    order; together they are all there is.
    """
    events = await two_hands(delay)
    table_id, log = TableId(events[0].stream_id), Until(events)
    states = [one.table for one in replay_stored(events)]
    learnt, shown = list[Learnt](), [1]
    log.version = 1
    following = Tables(log, lambda _, some: learnt.extend(some))
    held = await following.hold(table_id)
    for version in range(2, len(events) + 1):
        log.version = version
        await following.current(table_id)
        seen = held.seen_by(SPECTATOR)
        expected = visible(events, version, delay)
        assert (seen.version, seen.hash) == (expected, events[expected - 1].hash)
        assert seen.table == states[expected - 1]
        assert seen.delayed == (expected < version)
        assert held.seen_by(SEATED[0]).version == version
        shown.extend(one.stored.version for one in learnt.pop().shown)
        assert shown == list(range(1, expected + 1))
        if version % 4 == delay % 4:
            loaded = await Tables(log, lambda _, _some: None).hold(table_id)
            assert loaded.seen_by(SPECTATOR) == seen
    assert len(shown) == len(events)


async def test_no_delay_keeps_nothing_back() -> None:
    """With delay 0 each event is shown by itself, at once."""
    happened = replay_stored(await two_hands(0))
    learnt = Curtain().learn(None, happened)
    assert all(one.is_shown_at_once for one in learnt)


async def delayed_game(service: Replica, delay: int) -> Game:
    """Open a table with that delay and seat five players."""
    clients = [Client(service.channel, player) for player in PLAYERS]
    options = ruleset_pb2.Options(turn_seconds=300, declare_seconds=300, spectator_delay=delay)
    reply = await clients[0].call(pb.OpenTableRequest(request_id=fresh(), ruleset="ourgame-simple", options=options))
    game = Game(service.log, reply.table_id, clients)
    await game.seat_all()
    return game


@pytest.fixture
async def unhurried(log: MemoryLog) -> AsyncIterator[Replica]:
    """Give a service that lets anybody ask as often as he likes."""
    async with replica(log, rate_limit_per_second=1e6) as serving:
        yield serving


async def test_every_way_to_read_shows_a_spectator_the_same_past(unhurried: Replica) -> None:
    """Stream, snapshot, GetTable, resume, ListTables, refusals: none is ahead of the visible version.

    A player's own stream is at the head all the time; when the hand is over the spectator's is as well.
    """
    service, delay, chance = unhurried, 3, chance_of("delayed on the wire")
    game = await delayed_game(service, delay)
    spectator = Client(service.channel, SPECTATOR)
    viewer, player = Viewer(spectator, game.table_id), Viewer(game.clients[0], game.table_id)
    watching = [asyncio.create_task(one.watch(lambda: False)) for one in (viewer, player)]
    for one in (viewer, player):
        await one.opened.wait()
    await game.all_ready()
    while in_progress(await game.table()):
        if chance.random() < HOW_OFTEN:
            await check_ways(game, spectator, delay, chance)
        await eventually(lambda: has_come_to_what_is_visible(viewer, game, delay))
        await eventually(lambda: has_come_to_what_is_visible(player, game, 0))
        await game.step(chance)
    await eventually(lambda: has_come_to_what_is_visible(viewer, game, 0))
    assert viewer.table == mask(await game.table(), None)
    versions = [update.version for update in viewer.updates]
    assert versions == [update.version for update in player.updates]
    service.hub.drain()
    await asyncio.gather(*watching)


async def has_come_to_what_is_visible(viewer: Viewer, game: Game, delay: int) -> bool:
    """Tell whether the viewer is where he should be; he must never be beyond."""
    events = await game.events()
    limit = visible(events, len(events), delay) if delay else len(events)
    assert viewer.version <= limit
    return viewer.version == limit


async def check_ways(game: Game, spectator: Client, delay: int, chance: Random) -> None:
    """Check what a spectator is shown now by every way but a stream that is open already."""
    events = await game.events()
    version = visible(events, len(events), delay)
    table = fold(decode(event.type, event.data) for event in events[:version])
    assert isinstance(table, Table)
    view = (await spectator.call(pb.GetTableRequest(table_id=game.table_id))).table
    snapshot = (await first(spectator, game.table_id)).snapshot
    for shown in (view, snapshot):
        assert (shown.version, shown.hash) == (version, events[version - 1].hash)
        assert not shown.HasField("millis_left")
    (summary,) = (await spectator.call(pb.ListTablesRequest(player=PLAYERS[0]))).tables
    assert summary.version == 0
    resumed = Viewer(spectator, game.table_id, version, mask(table, None))
    await resumed.watch(lambda: bool(resumed.received))
    assert [response.WhichOneof("message") for response in resumed.received] == ["heartbeat"]
    assert not resumed.received[0].heartbeat.HasField("millis_left")
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await first(spectator, game.table_id, chance.randint(version + 1, len(events)))
    assert refusal(caught.value).message == f"after_version: the table is at version {version}"
    for expected in {version, chance.randint(version + 1, len(events)), len(events), len(events) + 5}:
        asked = sit(game.table_id, 0)
        asked.expected_version = expected
        refused = await spectator.refused(asked)
        if expected == version:
            assert refused.reason == Reason.SEAT_TAKEN
        else:
            assert (refused.reason, refused.metadata) == (Reason.STALE_VERSION, {"version": str(version)})
