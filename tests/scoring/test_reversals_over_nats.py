"""From `ReverseRuling` to points, ratings and whoever watches, over a real NATS and PostgreSQL (RULE-1)."""

import asyncio
from contextlib import aclosing

from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

from baohuang.client import DevelopmentIdentity, connect
from baohuang.gen.table.v1 import table_service_pb2 as table_pb
from baohuang.rules import events as ev
from baohuang.rules.state import PlayerId, TableId
from baohuang.scoring.events import Booked, FinePosted, FineReturned, HandScored
from baohuang.stream.connection import connect_to
from baohuang.stream.jetstream import JetStream
from baohuang.stream.streams import TABLE_STREAM
from scoring.following import Ledger, balances_of
from scoring.recording import Recorder
from scoring.test_over_nats import SOON, all_rated, everything_follows
from table_service.pokes import OnNats
from tables.changes import fine, operator
from tables.clients import fresh
from tables.games import Game, started
from tables.replicas import Replica, replica
from tables.test_reversals import reverse, version_of


async def consumer_of_before(url: str) -> None:
    """Make scoring's durable consumer as the release before did, which knew of no reversals."""
    kinds = ("HandFinished", "PlayerFined")
    async with connect_to(url, "before")() as client:
        await JetStream(client, TABLE_STREAM).make()
        await JetStreamContext(client).add_consumer(
            TABLE_STREAM.name,
            ConsumerConfig(
                durable_name="scoring",
                deliver_policy=DeliverPolicy.ALL,
                ack_policy=AckPolicy.EXPLICIT,
                filter_subjects=[TABLE_STREAM.of_kind(kind) for kind in kinds],
            ),
        )


async def posted(service: Replica, table_id: TableId, watching: asyncio.Event) -> list[Booked]:
    """Watch a table until a fine's return is told; give all postings that were."""
    told: list[Booked] = []
    async with (
        asyncio.timeout(SOON),
        connect(service.address, DevelopmentIdentity(PlayerId("zoe"))) as client,
        aclosing(client.watch(table_id)) as watched,
    ):
        async for moment in watched:
            watching.set()
            if moment.posted is not None:
                told.append(moment.posted)
            if isinstance(moment.posted, FineReturned):
                return told
    raise AssertionError("a watch has no end of its own")


async def void_with_a_fine(game: Game) -> tuple[int, int]:
    """Have one forfeit and the others ask for the trustee; return the versions of the fine and of the void."""
    fined = await fine(game, 2)
    for seat in (0, 1, 3, 4):
        request = table_pb.SetTrusteeshipRequest(request_id=fresh(), table_id=game.table_id, active=True)
        await game.clients[seat].call(request)
    return fined, await version_of(game, ev.HandVoided)


async def test_what_is_taken_back_is_booked_rated_and_told(
    recorder: Recorder, ledger: Ledger, own_database_dsn: str, url: str
) -> None:
    """Fine and void, then both taken back at the dissolved table: four postings, told to who watches, in order.

    Scoring's consumer was made by a release that knew of no reversals, and takes them all the same.
    """
    await consumer_of_before(url)
    async with (
        everything_follows(own_database_dsn, url, 2),
        replica(recorder.log, nats=OnNats(url, "one")) as service,
    ):
        game = await started(service, "homy-standard")
        watching = asyncio.Event()
        watch = asyncio.create_task(posted(service, TableId(game.table_id), watching))
        await watching.wait()
        fined, voided = await void_with_a_fine(game)
        await operator(service).call(reverse(game, voided))
        await operator(service).call(reverse(game, fined))
        told = await watch
        await all_rated(own_database_dsn, ledger)
    postings = await ledger.postings()
    assert told == postings
    assert [type(one) for one in postings] == [FinePosted, HandScored, HandScored, FineReturned]
    assert [one.reverses for one in postings if isinstance(one, HandScored | FineReturned)] == [None, voided, fined]
    balances = await ledger.balances()
    assert balances == balances_of(postings)
    assert balances["house"] == 0
