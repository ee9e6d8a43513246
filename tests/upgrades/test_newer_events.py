"""What a newer release wrote and this one does not know: refused, never guessed."""

from collections.abc import AsyncIterator, Awaitable
from typing import Any

import grpc
import pytest
from structlog.testing import capture_logs

from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import NewEvent, StreamId
from baohuang.gen.history.v1 import history_service_pb2 as history_pb
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.stream.table_messages import event_of, message_of, public_event
from eventlog.commands import NOON, accepted, after, command
from eventually import eventually
from table_service.deadlines import Pace
from table_service.wiring import Limits
from tables.clients import Client, ready, refusal, sit, stand
from tables.games import Game, opened, seated
from tables.play_streams import playing, watch
from tables.replicas import Replica, replica

QUICK = Limits(poll_seconds=0.02, away_seconds=3600.0, deadlines=Pace(poll_seconds=0.02, lease_seconds=0.05))
TABLE = "7e57ab1e-0000-4000-8000-000000000001"
NEWER = {
    "a type": NewEvent("SeatUpholstered", b'{"seat":0}'),
    "a key": NewEvent("ReadinessSet", b'{"mood":"bright","player":"an","ready":true}'),
    "a value": NewEvent(
        "TrusteeshipEntered", b'{"player":"an","reason":"TRUSTEESHIP_REASON_BOREDOM","rule":"TRUST-1"}'
    ),
}


@pytest.fixture
async def service() -> AsyncIterator[Replica]:
    """Give a service that looks at the log often."""
    async with replica(MemoryLog(), QUICK) as serving:
        yield serving


async def written_by_a_newer_one(game: Game, event: NewEvent) -> None:
    """Append an event as a replica of a newer release does."""
    await accepted(game.log, after(StreamId(game.table_id), await game.head(), event))


async def check_refused(call: Awaitable[object]) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    told = refusal(caught.value)
    assert (told.code, told.reason) == (grpc.StatusCode.UNAVAILABLE, "NEWER_RELEASE")


@pytest.mark.parametrize("event", NEWER.values(), ids=NEWER)
async def test_nothing_is_decided_on_it_nor_shown(service: Replica, event: NewEvent) -> None:
    """Every command and every look at the table is refused with NEWER_RELEASE; the log stays as it is.

    Other tables are played at as ever, and what was stored before is found by its request id.
    """
    game, other = await seated(service), await opened(service)
    before = ready(game.table_id)
    stored = await game.clients[0].call(before)
    await written_by_a_newer_one(game, event)
    head = await game.head()
    for request in (
        ready(game.table_id),
        stand(game.table_id),
        pb.GetTableRequest(table_id=game.table_id),
        pb.VoidHandRequest(table_id=game.table_id, request_id="void", reason="why"),
    ):
        caller = operator(service) if isinstance(request, pb.VoidHandRequest) else game.clients[1]
        await check_refused(caller.start(request))
    assert await game.clients[0].call(before) == stored
    assert await game.head() == head
    await other.seat_all()


def operator(service: Replica) -> Client:
    """Give an operator."""
    client = Client(service.channel, "olga")
    client.metadata = (*client.metadata, ("baohuang-role", "operator"))
    return client


async def test_a_replica_that_never_held_the_table_refuses_too(service: Replica) -> None:
    """Loading it from the log, whether by a command, a look, or a watch."""
    game = await seated(service)
    await written_by_a_newer_one(game, NEWER["a type"])
    async with replica(service.log, QUICK) as fresh:
        client = Client(fresh.channel, "an")
        for request in (ready(game.table_id), pb.GetTableRequest(table_id=game.table_id)):
            await check_refused(client.start(request))
        await check_refused(client.watch(game.table_id).read())


async def test_a_ruleset_that_is_not_known_is_not_the_callers_mistake() -> None:
    """A table of a newer release's ruleset: the caller asked for nothing unknown, so it is NEWER_RELEASE."""
    log = MemoryLog()
    opening = NewEvent("TableOpened", b'{"options":{},"ruleset":"homy-newest"}')
    table = command(StreamId(TABLE), events=(opening,), summary=b"{}")
    await accepted(log, table)
    async with replica(log, QUICK) as service:
        for request in (sit(TABLE, 0), pb.GetTableRequest(table_id=TABLE)):
            await check_refused(Client(service.channel, "an").start(request))


async def test_who_watches_is_sent_away_with_the_reason(service: Replica) -> None:
    """A stream that cannot be carried on ends with NEWER_RELEASE rather than stand still, and so does a Play stream."""
    game = await seated(service)
    stream = game.clients[0].watch(game.table_id)
    await stream.read()
    async with playing(service.channel, "bo") as stream_of_bo:
        await stream_of_bo.send(watch(game.table_id))
        await stream_of_bo.next_of(game.table_id)
        await written_by_a_newer_one(game, NEWER["a type"])
        await check_refused(_to_its_end(stream))
        await check_refused(stream_of_bo.read_until(lambda: False))
    assert service.hub.slow_readers == 0


async def _to_its_end(stream: Any) -> None:
    while await stream.read():
        pass


async def test_its_deadline_waits_for_who_can_decide_it(service: Replica) -> None:
    """Overdue, claimed and refused again and again: no bug is logged, nothing is stored, deadlines of others fire."""
    game = await seated(service)
    await accepted(
        game.log,
        command(
            StreamId(game.table_id),
            (head := await game.head()).version,
            head.hash,
            (NEWER["a type"],),
            due_at=NOON,
        ),
    )
    head = await game.head()
    with capture_logs() as lines:

        async def tried_twice() -> bool:
            return [line["event"] for line in lines].count("deadline not fired") >= 2

        await eventually(tried_twice)
    assert {line["log_level"] for line in lines} == {"warning"}
    assert await game.head() == head


async def test_a_ruling_is_not_called_disputed(service: Replica) -> None:
    """ReverseRuling, which decides the hand again: what this release cannot read is not said to be wrong."""
    game = await seated(service)
    fine = NewEvent(
        "PlayerFined",
        b'{"decidedAt":"2026-05-04T12:00:00.000000Z","player":"an","points":-20,"reason":"FINE_REASON_FORFEITED",'
        b'"rule":"FINE-2"}',
    )
    await written_by_a_newer_one(game, fine)
    version = (await game.head()).version
    await written_by_a_newer_one(game, NEWER["a type"])
    request = history_pb.ReverseRulingRequest(
        table_id=game.table_id, version=version, request_id="back", reason="it was late"
    )
    await check_refused(operator(service).start(request))


async def test_a_relay_carries_it_without_what_is_hidden(service: Replica) -> None:
    """Whatever its type is: everybody is told the public part, and the chain holds."""
    game = await opened(service)
    await written_by_a_newer_one(game, NewEvent("CardsPasted", b'{"hidden":{"cards":["3s"]},"seat":1}'))
    *_, stored = await game.events()
    carried = event_of(message_of(public_event(stored), None))
    assert (carried.type, carried.data) == ("CardsPasted", b'{"seat":1}')
    assert carried.hash == (await game.head()).hash
