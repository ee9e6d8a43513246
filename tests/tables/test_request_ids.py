import asyncio
from typing import Any

import grpc
import pytest

from baohuang.eventlog.port import StoredEvent
from baohuang.gen.history.v1 import history_service_pb2
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.gen.table.v1.table_view_pb2 import TABLE_STATUS_OPEN
from baohuang.rules import commands as cmd
from baohuang.rules.phases.asking import seats_to_act
from bench.random_player import chance_of, choose
from tables.changes import CHANGES, outcome_of
from tables.clients import Changing, Client, act, fresh, open_table, ready, sit, stand
from tables.games import opened, seated, started
from tables.replicas import Replica

TIMES = 24


def test_every_method_that_changes_something_is_here() -> None:
    """CHANGES, which the tests of retries and lost replies go through, leaves out no method with a request id."""
    services = (
        pb.DESCRIPTOR.services_by_name["TableService"],
        history_service_pb2.DESCRIPTOR.services_by_name["HistoryService"],
    )
    methods = [method for service in services for method in service.methods]
    changing = {method.name for method in methods if "request_id" in method.input_type.fields_by_name}
    assert changing == {name.partition(",")[0] for name in CHANGES}


async def of_request(service: Replica, request_id: str) -> list[StoredEvent]:
    """Return the events that a request brought about."""
    return [event for event in await service.log.read_all(limit=100_000) if event.request_id == request_id]


async def call_often(service: Replica, client: Client, request: Changing) -> list[Any]:
    """Make the same call many times at once, over four connections."""
    options = (("grpc.use_local_subchannel_pool", 1),)
    channels = [grpc.aio.insecure_channel(service.address, options=options) for _ in range(4)]
    try:
        callers = [Client(channel, client.player) for channel in channels]
        for caller in callers:
            caller.metadata = client.metadata
        return await asyncio.gather(*(caller.call(request) for caller in callers for _ in range(TIMES // 4)))
    finally:
        for channel in channels:
            await channel.close(None)


@pytest.mark.parametrize("name", CHANGES)
async def test_one_call_many_times_at_once_happens_once(service: Replica, name: str) -> None:
    """Over several connections: one outcome, every reply the same, the events of one command in the log."""
    change = await CHANGES[name](service)
    tables = len((await change.client.call(pb.ListTablesRequest())).tables)
    replies = await call_often(service, change.client, change.request)
    assert len({outcome_of(reply) for reply in replies}) == 1
    stored = await of_request(service, change.request.request_id)
    assert len({event.stream_id for event in stored}) == 1
    assert [event.version for event in stored] == list(range(stored[0].version, replies[0].version + 1))
    assert stored[-1].hash == replies[0].hash
    opened_now = len((await change.client.call(pb.ListTablesRequest())).tables) - tables
    assert opened_now == (name == "OpenTable")


async def test_one_call_many_times_at_once_happens_once_on_postgres(durable: Replica) -> None:
    """The same on the log that is durable, for a new table and for the change that brings the most events."""
    for name in ("OpenTable", "SetReady, the fifth"):
        change = await CHANGES[name](durable)
        replies = await call_often(durable, change.client, change.request)
        assert len({outcome_of(reply) for reply in replies}) == 1
        stored = await of_request(durable, change.request.request_id)
        assert [event.version for event in stored] == list(range(stored[0].version, replies[0].version + 1))


@pytest.mark.parametrize("name", CHANGES)
async def test_a_retry_gets_the_first_outcome_after_the_table_moved_on(service: Replica, name: str) -> None:
    """Version and hash are those of then, whatever was stored since; OpenTable shows the table as it was."""
    change = await CHANGES[name](service)
    first = await change.client.call(change.request)
    await move_on(service, change.game.table_id)
    before = await service.log.read_all(limit=100_000)
    again = await change.client.call(change.request)
    assert again == first
    assert await service.log.read_all(limit=100_000) == before


async def move_on(service: Replica, table_id: str) -> None:
    """Bring about one more event at a table, whatever its state; at one that is closed there is nothing to come."""
    view = (await Client(service.channel, "an").call(pb.GetTableRequest(table_id=table_id))).table
    if view.status != TABLE_STATUS_OPEN:
        return
    if view.hand.due_at:
        seat = next(seat for seat, standing in enumerate(view.hand.trusteeships) if not standing.active)
        leaving = pb.LeaveTableRequest(request_id=fresh(), table_id=table_id)
        await Client(service.channel, view.seats[seat].player).call(leaving)
        return
    empty = next((seat for seat, taken in enumerate(view.seats) if not taken.player), None)
    last = Client(service.channel, view.seats[4].player)
    await (last.call(stand(table_id)) if empty is None else Client(service.channel, "x").call(sit(table_id, empty)))


@pytest.mark.parametrize("name", CHANGES)
async def test_a_retry_with_a_version_now_stale_gets_the_first_outcome(service: Replica, name: str) -> None:
    """What was accepted stays accepted: `expected_version` speaks of the first time."""
    change = await CHANGES[name](service)
    if hasattr(change.request, "expected_version"):
        change.request.expected_version = (await change.game.head()).version
    first = await change.client.call(change.request)
    assert outcome_of(await change.client.call(change.request)) == outcome_of(first)


async def test_another_request_under_a_used_id_is_refused(service: Replica) -> None:
    """Another body, method, table or expected version under one id: REQUEST_ID_REUSED, and nothing is stored."""
    game, other = await seated(service), await seated(service)
    client, used = game.clients[0], ready(game.table_id, "entropy")
    await client.call(used)
    with_version = pb.SetReadyRequest()
    with_version.CopyFrom(used)
    with_version.expected_version = (await game.head()).version
    before = await service.log.read_all(limit=10_000)
    requests: tuple[Changing, ...] = (
        ready(game.table_id, "other entropy"),
        ready(other.table_id, "entropy"),
        with_version,
        stand(game.table_id),
        stand(other.table_id),
        sit(game.table_id, 0),
        act(game.table_id, cmd.Pass()),
        open_table(),
    )
    for request in requests:
        request.request_id = used.request_id
        refused = await client.refused(request)
        assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "REQUEST_ID_REUSED")
        assert refused.fields == ("request_id",)
    assert await service.log.read_all(limit=10_000) == before


async def test_a_used_id_of_an_opened_table_is_refused_for_another(service: Replica) -> None:
    """OpenTable's id is known although each attempt makes up a table id of its own."""
    client, request = Client(service.channel, "an"), open_table()
    await client.call(request)
    request.ruleset = "homy-standard"
    assert (await client.refused(request)).reason == "REQUEST_ID_REUSED"
    assert len((await client.call(pb.ListTablesRequest())).tables) == 1


async def test_a_refused_call_is_decided_anew(service: Replica) -> None:
    """It left nothing behind: the same request, illegal first, is accepted once it is legal."""
    game = await opened(service)
    client, guest = game.clients[0], Client(service.channel, "guest")
    await guest.call(sit(game.table_id, 0))
    request = sit(game.table_id, 0)
    for _ in range(2):
        assert (await client.refused(request)).reason == "SEAT_TAKEN"
    assert await of_request(service, request.request_id) == []
    await guest.call(stand(game.table_id))
    assert (await client.call(request)).version == (await game.head()).version
    assert len(await of_request(service, request.request_id)) == 1


async def test_a_refused_id_is_free_for_another_body(service: Replica) -> None:
    """An id is used up by an accepted request only."""
    game = await opened(service)
    client, request_id = game.clients[0], fresh()
    await client.refused(pb.StandUpRequest(request_id=request_id, table_id=game.table_id))
    await client.call(pb.SitDownRequest(request_id=request_id, table_id=game.table_id, seat=1))
    assert len(await of_request(service, request_id)) == 1


async def test_ids_belong_to_their_callers(service: Replica) -> None:
    """The same id and body from another player is another request."""
    game, request_id = await seated(service), fresh()
    replies = [
        await client.call(pb.SetReadyRequest(request_id=request_id, table_id=game.table_id, ready=True))
        for client in game.clients[:3]
    ]
    assert len({reply.version for reply in replies}) == 3
    assert len(await of_request(service, request_id)) == 3


async def test_a_hand_in_which_every_call_is_made_twice(service: Replica) -> None:
    """Retried calls, each with a check of its outcome, change nothing in how a hand goes."""
    game, chance = await started(service), chance_of("twice")
    requests = []
    for _ in range(40):
        table, hand = await game.table(), await game.hand()
        seat = chance.choice(seats_to_act(hand))
        request = act(game.table_id, choose(table, seat, chance))
        first, again = await asyncio.gather(game.clients[seat].call(request), game.clients[seat].call(request))
        assert outcome_of(first) == outcome_of(again)
        requests.append(request.request_id)
    stored = [event.request_id for event in await game.events()]
    assert [request_id for request_id in dict.fromkeys(stored) if request_id in requests] == requests
