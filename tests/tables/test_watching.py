import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

import grpc
import pytest

from baohuang.eventlog.codec import decode
from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import StoredEvent, StreamId
from baohuang.gen.table.v1 import watch_pb2
from baohuang.rpc.event_messages import event_to_proto
from baohuang.rules.evolve import evolve
from baohuang.rules.phases.asking import seats_to_act
from baohuang.rules.redact import Viewer as Viewpoint
from baohuang.rules.redact import mask, redact
from baohuang.rules.rulesets import RULESETS
from baohuang.rules.state import Table, TableId
from bench.random_player import chance_of
from eventually import eventually
from table_service.wiring import Limits
from tables.clients import Client, ready, refusal
from tables.games import PLAYERS, Game, seated, started
from tables.logs import FrontLog, Silent
from tables.replicas import Replica, replica
from tables.viewers import Viewer, first, follow

SEATS: Final[tuple[Viewpoint, ...]] = (0, 1, 2, 3, 4, None)
"""Who watches: each of the five, and a spectator."""


def viewer_of(service: Replica, game: Game, seat: Viewpoint, version: int = 0, table: Table | None = None) -> Viewer:
    """Return a viewer, not watching yet, who knows what he may of the table at that version."""
    client = Client(service.channel, "spectator" if seat is None else PLAYERS[seat])
    return Viewer(client, game.table_id, version, mask(table, seat) if table else None)


@asynccontextmanager
async def watched(viewers: list[Viewer]) -> AsyncIterator[asyncio.Event]:
    """Let all of them watch, their streams open, until the event given is set and one more message has come."""
    ended = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        for viewer in viewers:
            tasks.create_task(viewer.watch(ended.is_set))
        for viewer in viewers:
            await viewer.opened.wait()
        yield ended


@pytest.mark.parametrize("ruleset", RULESETS)
async def test_everybody_is_sent_his_own_view_of_a_hand(service: Replica, ruleset: str) -> None:
    """A snapshot, then every event once, as `redact` has it for that viewer; it folds to the masked table.

    The chain of hashes can be checked from the updates alone.
    """
    game = await seated(service, ruleset)
    viewers, begin = [viewer_of(service, game, seat) for seat in SEATS], (await game.head()).version
    async with watched(viewers) as ended:
        await game.all_ready()
        await game.play(chance_of(ruleset))
        end = (await game.head()).version
        await eventually(lambda: all_reached(viewers, end))
        ended.set()
        await game.clients[0].call(ready(game.table_id))
    table, events = await game.table(), (await game.events())[begin:]
    for viewer, seat in zip(viewers, SEATS, strict=True):
        kinds = [response.WhichOneof("message") for response in viewer.received]
        assert kinds == ["snapshot", *["update"] * len(events)]
        assert viewer.table == mask(table, seat)
        for stored, update in zip(events, viewer.updates, strict=True):
            expected = redact(decode(stored.type, stored.data), seat, False)
            assert (update.version, update.hash, update.type) == (stored.version, stored.hash, stored.type)
            assert update.event == event_to_proto(expected)
        tip = follow(game.table_id, viewer.received[0].snapshot, viewer.updates)
        assert (tip.version, tip.hash) == (events[-1].version, events[-1].hash)


async def all_reached(viewers: list[Viewer], version: int) -> bool:
    """Tell whether every viewer has come to a version."""
    return all(viewer.version >= version for viewer in viewers)


async def test_the_seats_to_act_are_told_with_every_update(service: Replica) -> None:
    """`seats_to_act` names who has to act after the event: nobody between hands, one in turn, all asked in secret."""
    game = await seated(service)
    viewer = Viewer(Client(service.channel, "spectator"), game.table_id)
    async with watched([viewer]) as ended:
        await game.all_ready()
        await game.play(chance_of("to act"))
        ended.set()
        await game.clients[0].call(ready(game.table_id))
    acting = [seats_to_act(table.hand) if table and table.hand else () for table in await history(game)]
    for update in viewer.updates:
        assert tuple(update.seats_to_act) == acting[update.version]


async def test_resume_from_every_version_of_a_hand(service: Replica) -> None:
    """Whatever version a viewer has, snapshot or missed events and the tail bring him to the same end.

    Folded from what he had, contiguous, nothing twice. Versions are resumed as one seat after the other and as a
    spectator; of each player's streams the last one goes on into the tail.
    """
    game, chance = await seated(service, "homy-weihai"), chance_of("resume")
    await game.all_ready()
    while sum(map(len, (await game.hand()).hands)) > 100:
        await game.step(chance)
    states = await history(game)
    head, seats = len(states) - 1, [SEATS[version % len(SEATS)] for version in range(len(states))]
    viewers = [viewer_of(service, game, seat, v, states[v]) for v, seat in enumerate(seats)]
    for viewer in viewers[:-6]:
        await viewer.reach(head)
    async with asyncio.TaskGroup() as tasks:
        for viewer in viewers[-6:]:
            tasks.create_task(viewer.reach(head + 11))
        await eventually(lambda: are_watching(service, game, 6))
        while (await game.head()).version < head + 11:
            await game.step(chance)
    ends = await history(game)
    for viewer, seat in zip(viewers, seats, strict=True):
        end = ends[viewer.version]
        assert end is not None
        assert viewer.table == mask(end, seat)
        kinds = [response.WhichOneof("message") for response in viewer.received]
        assert set(kinds[1:]) - {"heartbeat"} <= {"update"}


async def test_resume_across_the_end_of_a_hand(service: Replica) -> None:
    """Who was away while one hand ended and another began gets what he missed, the end of the hand with it.

    More than 256 events, and he begins anew with a snapshot.
    """
    game, chance = await seated(service), chance_of("two hands")
    await game.all_ready()
    await game.play(chance)
    end = (await game.head()).version
    await game.all_ready()
    await game.step(chance)
    head, states = (await game.head()).version, await history(game)
    for version, seat in ((end - 3, 0), (end - 1, 1), (end, None), (end + 4, 2), (head - 1, None), (head - 200, 3)):
        viewer = viewer_of(service, game, seat, version, states[version])
        await viewer.reach(head)
        assert [update.version for update in viewer.updates] == list(range(version + 1, head + 1))
        assert viewer.table == mask(await game.table(), seat)
    assert "HandFinished" in {update.type for update in viewer.updates}


async def test_who_missed_too_much_begins_anew(service: Replica) -> None:
    """256 events are told one by one; with one more it is a snapshot."""
    game = await seated(service)
    begin = (await game.head()).version
    for number in range(257):
        await game.clients[number % 4].call(ready(game.table_id))
    assert (await first(game.clients[4], game.table_id, begin)).HasField("snapshot")
    assert (await first(game.clients[4], game.table_id, begin + 1)).update.version == begin + 2


async def test_those_who_come_back_cost_the_log_one_read_a_table(log: MemoryLog) -> None:
    """Five players and a spectator resume at once from one version: what they missed is read once."""
    counting = Counting(log)
    async with replica(counting) as service:
        game, chance = await started(service), chance_of("coming back")
        for _ in range(30):
            await game.step(chance)
        head, states = (await game.head()).version, await history(game)
        viewers = [viewer_of(service, game, seat, head - 9, states[head - 9]) for seat in SEATS]
        counting.rebuilds = 0
        tasks = [asyncio.create_task(viewer.reach(head + 1)) for viewer in viewers]
        await eventually(lambda: are_watching(service, game, len(SEATS)))
        await game.step(chance)
        await asyncio.gather(*tasks)
        assert counting.rebuilds == 1


class Counting(FrontLog):
    """Counts how often a hand is read back."""

    rebuilds = 0

    async def read_since_last(self, stream_id: StreamId, event_type: str) -> Sequence[StoredEvent]:
        """See `EventLog.read_since_last`."""
        self.rebuilds += 1
        return await super().read_since_last(stream_id, event_type)


async def history(game: Game) -> list[Table | None]:
    """Return the table at every version, beginning with the one at version 0, which is none."""
    states: list[Table | None] = [None]
    for stored in await game.events():
        states.append(evolve(states[-1], decode(stored.type, stored.data)))
    return states


async def are_watching(service: Replica, game: Game, watchers: int) -> bool:
    """Tell whether that many watch the table."""
    return len(service.hub._watching[TableId(game.table_id)]) == watchers


async def test_a_version_to_come_is_refused(service: Replica) -> None:
    """INVALID_ARGUMENT naming the field: who has seen more than there is has seen another table."""
    game = await seated(service)
    version = (await game.head()).version
    for wrong in (version + 1, 2**31 - 1):
        stream = game.clients[0].watch(game.table_id, wrong)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await anext(aiter(stream))
        refused = refusal(caught.value)
        assert (refused.code, refused.fields) == (grpc.StatusCode.INVALID_ARGUMENT, ("after_version",))


async def test_who_is_up_to_date_is_sent_what_comes(service: Replica) -> None:
    """From the table's own version the stream begins with a sign of life, then come the next events."""
    game = await seated(service)
    version = (await game.head()).version
    stream = game.clients[0].watch(game.table_id, version)
    assert (await stream.read()).heartbeat.version == version
    await game.clients[1].call(ready(game.table_id))
    assert (await stream.read()).update.version == version + 1
    stream.cancel()


async def test_views_and_signs_of_life_say_how_much_time_is_left(service: Replica) -> None:
    """A snapshot and a resumed stream tell the milliseconds left now; an update, those the turn begins with."""
    game = await started(service)
    stream = game.clients[0].watch(game.table_id)
    snapshot = (await stream.read()).snapshot
    assert 0 < snapshot.millis_left <= 300_000
    resumed = game.clients[1].watch(game.table_id, snapshot.version)
    assert 0 < (await resumed.read()).heartbeat.millis_left <= 300_000
    await game.step(chance_of("time left"))
    assert (await stream.read()).update.millis_left == 300_000
    stream.cancel()
    resumed.cancel()


async def test_watchers_that_go_away_are_forgotten(service: Replica) -> None:
    """Cancelled, and closed with their connection: no subscription is left behind."""
    game = await seated(service)
    other = grpc.aio.insecure_channel(service.address, options=(("grpc.use_local_subchannel_pool", 1),))
    streams = [Client(channel, "x").watch(game.table_id) for channel in (service.channel, other) for _ in range(20)]
    for stream in streams:
        assert (await stream.read()).HasField("snapshot")
    assert len(service.hub._watching[TableId(game.table_id)]) == 40
    for stream in streams[:20]:
        stream.cancel()
    await other.close(None)
    await eventually(lambda: nobody_watches(service))
    await game.clients[0].call(ready(game.table_id))


async def nobody_watches(service: Replica) -> bool:
    """Tell whether nobody watches anything."""
    return not service.hub._watching


async def test_an_idle_stream_beats(log: MemoryLog) -> None:
    """When nothing happens a heartbeat with the table's version comes, again and again."""
    async with replica(log, Limits(heartbeat_seconds=0.02)) as service:
        game = await seated(service)
        viewer = Viewer(Client(service.channel, "spectator"), game.table_id)
        await viewer.watch(lambda: len(viewer.received) == 4)
        head = await game.head()
        beats = [response.heartbeat for response in viewer.received[1:]]
        assert beats == [watch_pb2.Heartbeat(version=head.version)] * 3


async def test_an_idle_stream_finds_what_another_replica_appended(log: MemoryLog) -> None:
    """Nobody tells this replica of it: the watcher still has it within a heartbeat."""
    async with replica(log) as here, replica(log, Limits(heartbeat_seconds=0.05)) as there:
        game = await seated(here)
        viewer = Viewer(Client(there.channel, "spectator"), game.table_id)
        watching = asyncio.create_task(viewer.reach((await game.head()).version + 2))
        await viewer.opened.wait()
        for client in game.clients[:2]:
            await client.call(ready(game.table_id))
        await asyncio.wait_for(watching, 5)
        assert [update.actor for update in viewer.updates] == ["an", "bo"]


async def test_an_idle_stream_outlives_a_silent_log(log: MemoryLog) -> None:
    """While the log does not answer the stream goes on beating, and has the events that come later."""
    silent = Silent(log)
    async with replica(silent, Limits(heartbeat_seconds=0.02)) as service:
        game = await seated(service)
        viewer = Viewer(Client(service.channel, "spectator"), game.table_id)
        watching = asyncio.create_task(viewer.reach((await game.head()).version + 1))
        await viewer.opened.wait()
        silent.silent = True
        beats = len(viewer.received) + 3
        await eventually(lambda: received(viewer, beats))
        silent.silent = False
        await game.clients[0].call(ready(game.table_id))
        await asyncio.wait_for(watching, 5)


async def received(viewer: Viewer, messages: int) -> bool:
    """Tell whether so many messages have come."""
    return len(viewer.received) >= messages


async def test_a_table_dropped_and_loaded_again_loses_its_watchers_nothing(log: MemoryLog) -> None:
    """The replica holds one table at a time, and another one appends what it does not see: no gap in any stream."""
    async with replica(log) as elsewhere, replica(log, Limits(tables_held=1)) as here:
        game, other = await seated(elsewhere), await seated(elsewhere)
        viewer = Viewer(Client(here.channel, "an"), game.table_id)
        watching = asyncio.create_task(viewer.watch(lambda: viewer.table is not None and viewer.table.hand is not None))
        await viewer.opened.wait()
        for client in game.clients[:4]:
            await client.call(ready(game.table_id))
        await first(Client(here.channel, "an"), other.table_id)
        await Client(here.channel, PLAYERS[4]).call(ready(game.table_id))
        await asyncio.wait_for(watching, 5)
        await viewer.reach((await game.head()).version)
        assert viewer.table == mask(await game.table(), 0)
