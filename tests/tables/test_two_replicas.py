import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

import grpc
import pytest

from baohuang.eventlog import chain
from baohuang.eventlog.port import EventLog
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.rules import commands as cmd
from baohuang.rules.phases.asking import seats_to_act
from baohuang.rules.state import Answer, Phase, in_progress
from bench.random_player import chance_of, choose
from tables.clients import Client, act, open_table, ready, sit, stand
from tables.games import PLAYERS, Game, seated, started
from tables.persistent import QUICK
from tables.replicas import Replica, replica
from tables.viewers import Viewer, first


@dataclass(frozen=True, slots=True)
class Pair:
    """Two replicas over one log."""

    a: Replica
    b: Replica

    def of(self, players: Sequence[str], replica_of: Sequence[Replica] = ()) -> list[Client]:
        """Return a client for each player, on replica A unless said otherwise."""
        return [
            Client((replica_of[seat] if replica_of else self.a).channel, player) for seat, player in enumerate(players)
        ]


@pytest.fixture
async def pair(either_log: EventLog) -> AsyncIterator[Pair]:
    """Give two replicas over each log in turn."""
    async with replica(either_log) as a, replica(either_log) as b:
        yield Pair(a, b)


async def test_refusals_come_from_the_log_and_not_from_a_cache(pair: Pair) -> None:
    """B has seen the table before A changed it: B refuses what A made illegal and accepts what A made legal."""
    an_a, bo_b = Client(pair.a.channel, "an"), Client(pair.b.channel, "bo")
    table_id = (await an_a.call(open_table())).table_id
    await bo_b.call(pb.GetTableRequest(table_id=table_id))
    await an_a.call(sit(table_id, 0))
    assert (await bo_b.refused(sit(table_id, 0))).reason == "SEAT_TAKEN"
    await an_a.call(stand(table_id))
    assert (await bo_b.call(sit(table_id, 0))).version == 5
    assert (await an_a.refused(sit(table_id, 0))).reason == "SEAT_TAKEN"


async def test_a_stale_expected_version_is_told_from_the_log(pair: Pair) -> None:
    """B, behind the log, refuses the version of its cache and accepts the log's."""
    game = await seated(pair.a)
    an_b = Client(pair.b.channel, "an")
    seen = (await an_b.call(pb.GetTableRequest(table_id=game.table_id))).table.version
    await game.clients[1].call(ready(game.table_id))
    request = ready(game.table_id)
    request.expected_version = seen
    refused = await an_b.refused(request)
    assert (refused.reason, refused.metadata) == ("STALE_VERSION", {"version": str(seen + 1)})
    request.expected_version = seen + 1
    assert (await an_b.call(request)).version == seen + 2


async def test_a_retry_on_the_other_replica_gets_the_first_outcome(pair: Pair) -> None:
    """Accepted on A, retried on B, for a new table and for a seat."""
    an_a, an_b = Client(pair.a.channel, "an"), Client(pair.b.channel, "an")
    opening = open_table()
    opened = await an_a.call(opening)
    sitting = sit(opened.table_id, 2)
    sat = await an_a.call(sitting)
    assert await an_b.call(sitting) == sat
    assert await an_b.call(opening) == opened


async def test_one_call_at_both_replicas_at_once_happens_once(pair: Pair) -> None:
    """Twenty times on each: one table, every reply the same."""
    request = open_table()
    calls = [Client(one.channel, "an").call(request) for one in (pair.a, pair.b) for _ in range(20)]
    replies = await asyncio.gather(*calls)
    assert len({(reply.table_id, reply.version, reply.hash) for reply in replies}) == 1
    stored = await pair.a.log.read_stream(replies[0].table_id)
    assert {event.request_id for event in stored} == {request.request_id}


async def test_one_play_over_many_connections_at_both_replicas_happens_once(pair: Pair) -> None:
    """A player whose line lags sends his move twenty times, over ten connections, to both at once: one event.

    Every reply is the same; the same id with another request is refused by both, and nothing is appended.
    """
    game = await started(pair.a)
    (seat, *_) = seats_to_act(await game.hand())
    request = act(game.table_id, choose(await game.table(), seat, chance_of("lag")))
    before = (await game.head()).version
    async with AsyncExitStack() as stack:
        connections = [
            await stack.enter_async_context(grpc.aio.insecure_channel(one.address, options=QUICK))
            for one in (pair.a, pair.b) * 5
        ]
        clients = [Client(connection, PLAYERS[seat]) for connection in connections]
        replies = await asyncio.gather(*(client.call(request) for client in clients for _ in range(2)))
        other = ready(game.table_id)
        other.request_id = request.request_id
        refusals = [await client.refused(other) for client in clients[:2]]
    assert len({(reply.version, reply.hash) for reply in replies}) == 1
    assert {refused.reason for refused in refusals} == {"REQUEST_ID_REUSED"}
    events = [event for event in await game.events() if event.version > before]
    assert {event.request_id for event in events} == {request.request_id}
    assert (await game.head()).version == replies[0].version


async def test_a_hand_played_over_both_replicas_in_turn(pair: Pair) -> None:
    """Every move goes to a replica drawn at random; the chain is right and the points sum to zero."""
    chance = chance_of("both")
    game = await seated(pair.a)
    await game.all_ready()
    while in_progress(await game.table()):
        game.clients = pair.of(PLAYERS, [chance.choice((pair.a, pair.b)) for _ in PLAYERS])
        await game.step(chance)
    result = (await game.hand()).result
    assert result is not None
    assert sum(result.points) == 0
    await verify(game)


async def verify(game: Game) -> None:
    """Check the chain of the table's events."""
    head = await game.head()
    chain.verify_end(chain.verify(chain.start(head.stream_id), await game.events()), head)


async def test_five_at_once_on_both_replicas(pair: Pair) -> None:
    """Seats, readiness and secret answers, all five at once on both replicas: each is taken once, none is lost."""
    clients = pair.of(PLAYERS, (pair.a, pair.b, pair.a, pair.b, pair.a))
    game = Game(pair.a.log, (await clients[0].call(open_table())).table_id, clients)
    await asyncio.gather(*(client.call(sit(game.table_id, seat)) for seat, client in enumerate(clients)))
    await asyncio.gather(*(client.call(ready(game.table_id)) for client in clients))
    await game.reach(Phase.DECLARE, chance_of("five"))
    await asyncio.gather(*(client.call(act(game.table_id, cmd.Declare(Answer.NONE))) for client in clients))
    assert (await game.hand()).phase is Phase.PLAY
    types = [event.type for event in await game.events()]
    assert [types.count(name) for name in ("PlayerSat", "ReadinessSet", "HandStarted", "Answered")] == [5, 5, 1, 5]
    await verify(game)


async def test_ten_players_want_the_same_five_seats(pair: Pair) -> None:
    """Who is refused is told so; exactly five sit, each once."""
    players = [f"p{number}" for number in range(10)]
    clients = pair.of(players, [pair.a, pair.b] * 5)
    table_id = (await clients[0].call(open_table())).table_id
    calls = [client.call(sit(table_id, number % 5)) for number, client in enumerate(clients)]
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert sum(not isinstance(outcome, BaseException) for outcome in outcomes) == 5
    view = (await clients[0].call(pb.GetTableRequest(table_id=table_id))).table
    assert len({seat.player for seat in view.seats} - {""}) == 5


async def test_the_other_replica_shows_what_was_appended_here(pair: Pair) -> None:
    """GetTable and the opening of WatchTable on B are of the log as it is, although B had the table before."""
    game = await seated(pair.a)
    client = Client(pair.b.channel, "an")
    await client.call(pb.GetTableRequest(table_id=game.table_id))
    await game.all_ready()
    head = await game.head()
    view = (await client.call(pb.GetTableRequest(table_id=game.table_id))).table
    assert (view.version, view.hash, view.hand.number) == (head.version, head.hash, 1)
    snapshot = (await first(client, game.table_id)).snapshot
    assert (snapshot.version, snapshot.hash) == (head.version, head.hash)


async def test_a_watcher_moves_to_the_other_replica(pair: Pair) -> None:
    """Fifty events watched on A, then on B from the version reached: all arrive once, in order."""
    chance = chance_of("moves over")
    game = await seated(pair.a)
    await game.all_ready()
    viewer = Viewer(Client(pair.a.channel, "an"), game.table_id)
    await viewer.reach((await game.head()).version)
    viewer.client = Client(pair.b.channel, "an")
    for _ in range(50):
        await game.step(chance)
    await viewer.reach((await game.head()).version)
    assert [update.version for update in viewer.updates] == [
        event.version for event in (await game.events())[-len(viewer.updates) :]
    ]


async def test_a_watcher_is_told_what_another_replica_appended_before(pair: Pair) -> None:
    """He watches on B; A appends; with B's own next append he gets A's events first, contiguous."""
    game = await seated(pair.a)
    viewer = Viewer(Client(pair.b.channel, "watcher"), game.table_id)
    watching = asyncio.create_task(viewer.reach((await game.head()).version + 3))
    await viewer.opened.wait()
    for client in game.clients[:2]:
        await client.call(ready(game.table_id))
    await Client(pair.b.channel, "cai").call(ready(game.table_id))
    await watching
    assert [update.actor for update in viewer.updates] == ["an", "bo", "cai"]
