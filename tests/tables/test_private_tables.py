"""A private table exists for those who belong to it or show its code, and for nobody else."""

from datetime import UTC, datetime

import grpc
import pytest
from google.protobuf.message import Message

from baohuang.eventlog.memory import MemoryLog
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.gen.table.v1 import watch_pb2
from baohuang.rules import commands as cmd
from bench.random_player import chance_of
from table_service.identifiers import new_table_id
from tables.clients import Client, Refused, act, fresh, open_table, ready, refusal, sit, stand
from tables.games import PLAYERS, Game
from tables.replicas import Replica

CODE = "correct-horse-battery"
WRONG = ("", "wrong-horse-battery", "correct-horse-batter", "皇" * 20)


async def private(service: Replica) -> Game:
    """Open a private table, by `an`."""
    clients = [Client(service.channel, player) for player in PLAYERS]
    request = open_table()
    request.invitation_code = CODE
    reply = await clients[0].call(request)
    return Game(service.log, reply.table_id, clients)


async def full(service: Replica) -> Game:
    """Open a private table at which all five sit: four of them with the code."""
    game = await private(service)
    for seat, client in enumerate(game.clients):
        request = sit(game.table_id, seat)
        request.invitation_code = "" if client.player == "an" else CODE
        await client.call(request)
    return game


def of_role(service: Replica, role: str) -> Client:
    """Return a client of that role."""
    client = Client(service.channel, f"the-{role}")
    client.metadata = (*client.metadata, ("baohuang-role", role))
    return client


def everything(table_id: str) -> list[Message]:
    """Return a request of every kind for one table."""
    return [
        pb.GetTableRequest(table_id=table_id),
        sit(table_id, 1),
        stand(table_id),
        ready(table_id),
        act(table_id, cmd.Pass()),
        pb.SetTrusteeshipRequest(request_id=fresh(), table_id=table_id, active=True),
        pb.LeaveTableRequest(request_id=fresh(), table_id=table_id),
        pb.ForfeitSeatRequest(request_id=fresh(), table_id=table_id),
    ]


async def watch_refused(client: Client, table_id: str, code: str) -> Refused:
    """Start to watch a table, which has to be refused, and tell how it was."""
    request = watch_pb2.WatchTableRequest(table_id=table_id, invitation_code=code)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await anext(aiter(client.start(request)))
    return refusal(caught.value)


async def snapshot(client: Client, table_id: str, code: str = "") -> int:
    """Watch a table, and return the version of the snapshot that comes first."""
    stream = client.start(watch_pb2.WatchTableRequest(table_id=table_id, invitation_code=code))
    first = await anext(aiter(stream))
    stream.cancel()
    return int(first.snapshot.version)


def like(refused: Refused, table_id: str) -> Refused:
    """Return the refusal as it would be of a table of that id."""
    message = refused.message.replace(table_id, "T")
    return Refused(refused.code, refused.reason, refused.domain, refused.metadata, refused.fields, message)


async def test_for_strangers_it_does_not_exist(service: Replica) -> None:
    """Every call is refused to the letter as that of a table which does not exist, by any code but its own."""
    game, stranger = await full(service), Client(service.channel, "zoe")
    nowhere = new_table_id(datetime(2026, 5, 4, tzinfo=UTC))
    before = await game.head()
    for real, none in zip(everything(game.table_id), everything(nowhere), strict=True):
        refused = await stranger.refused(real)
        assert like(refused, game.table_id) == like(await stranger.refused(none), nowhere)
        assert (refused.code, refused.reason) == (grpc.StatusCode.NOT_FOUND, "NO_SUCH_TABLE")
    for code in WRONG:
        assert (await watch_refused(stranger, game.table_id, code)).reason == "NO_SUCH_TABLE"
        request = pb.GetTableRequest(table_id=game.table_id, invitation_code=code)
        assert (await stranger.refused(request)).reason == "NO_SUCH_TABLE"
    assert await game.head() == before


async def test_neither_version_nor_request_id_tells_that_it_exists(service: Replica) -> None:
    """A stale version, and a request id used elsewhere, get the same answer as ever."""
    game, stranger = await full(service), Client(service.channel, "zoe")
    stale = stand(game.table_id)
    stale.expected_version = 1
    assert (await stranger.refused(stale)).reason == "NO_SUCH_TABLE"
    opening = open_table()
    await stranger.call(opening)
    used = stand(game.table_id)
    used.request_id = opening.request_id
    assert (await stranger.refused(used)).reason == "NO_SUCH_TABLE"


async def test_the_code_opens_it(service: Replica) -> None:
    """With it a stranger sees, watches and sits down; seated he needs it no more; having stood up, he does again."""
    game, guest = await private(service), Client(service.channel, "zoe")
    view = await guest.call(pb.GetTableRequest(table_id=game.table_id, invitation_code=CODE))
    assert view.table.table_id == game.table_id
    assert await snapshot(guest, game.table_id, CODE) == view.table.version
    request = sit(game.table_id, 3)
    request.invitation_code = CODE
    await guest.call(request)
    await guest.call(pb.GetTableRequest(table_id=game.table_id))
    await snapshot(guest, game.table_id)
    await guest.call(ready(game.table_id))
    leaving = stand(game.table_id)
    left = await guest.call(leaving)
    assert (await guest.refused(pb.GetTableRequest(table_id=game.table_id))).reason == "NO_SUCH_TABLE"
    assert await guest.call(leaving) == left


async def test_who_belongs_to_it_needs_no_code(service: Replica) -> None:
    """Who opened it, its players during and after a hand, operators, services."""
    game = await full(service)
    await game.all_ready()
    await game.play(chance_of("private"))
    for client in (*game.clients, of_role(service, "operator"), of_role(service, "service")):
        assert (await client.call(pb.GetTableRequest(table_id=game.table_id))).table.HasField("hand")
        await snapshot(client, game.table_id)


async def test_the_code_is_stored_nowhere(service: Replica, log: MemoryLog) -> None:
    """No event, no outcome, no summary holds it; the digest is carried on by every hand; it is not the code's alone."""
    game, other = await full(service), await private(service)
    await game.all_ready()
    stored = [event.data for event in await log.read_all(limit=10_000)]
    stored += [head.summary for head in await log.list_heads()]
    stored += [duplicate.outcome for duplicate in log._requests.values()]
    assert not [data for data in stored if CODE.encode() in data]
    digests = {(await one.table()).invitation_digest for one in (game, other)}
    assert len(digests) == 2
    assert all(len(digest) == 64 for digest in digests)


async def test_a_retried_opening_finds_the_same_table(service: Replica) -> None:
    """The code is the client's, so both attempts are one request; another code with the same id is another request."""
    client, request = Client(service.channel, "an"), open_table()
    request.invitation_code = CODE
    first = await client.call(request)
    assert await client.call(request) == first
    request.invitation_code = WRONG[1]
    assert (await client.refused(request)).reason == "REQUEST_ID_REUSED"


@pytest.mark.parametrize("code", ["x" * 15, "x" * 65, "with a blank in it", "皇" * 20, "nul\0nul\0nul\0nul\0nul"])
async def test_a_bad_code_is_refused(service: Replica, code: str) -> None:
    """16 to 64 printable ASCII characters without blanks."""
    request = open_table()
    request.invitation_code = code
    assert (await Client(service.channel, "an").refused(request)).fields == ("invitation_code",)


async def test_listings_leave_it_out(either: Replica) -> None:
    """Nobody finds it but who asks for himself, operators and services."""
    game, public = await full(either), await Client(either.channel, "an").call(open_table())

    async def listed(client: Client, player: str = "") -> bool:
        reply = await client.call(pb.ListTablesRequest(player=player))
        ids = [table.table_id for table in reply.tables]
        assert player or public.table_id in ids
        return game.table_id in ids

    zoe, bo = Client(either.channel, "zoe"), game.clients[1]
    assert not await listed(zoe)
    assert not await listed(zoe, player="bo")
    assert not await listed(bo)
    assert await listed(bo, player="bo")
    assert await listed(of_role(either, "operator"))
    assert await listed(of_role(either, "service"), player="bo")
