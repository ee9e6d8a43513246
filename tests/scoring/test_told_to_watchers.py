"""From the end of a hand to the score beside the table's stream, over a real NATS and PostgreSQL."""

import asyncio
from contextlib import aclosing
from itertools import pairwise

from baohuang.client import DevelopmentIdentity, Moment, connect
from baohuang.gen.table.v1 import table_service_pb2 as table_pb
from baohuang.rules.state import PlayerId, TableId
from baohuang.scoring.events import FinePosted, HandScored
from bench.random_player import chance_of
from scoring.following import Ledger
from scoring.recording import Recorder
from scoring.test_over_nats import everything_follows
from table_service.pokes import OnNats
from tables.clients import fresh
from tables.games import started
from tables.replicas import replica

SECONDS = 60.0
"""How long anything may take on a busy machine."""


async def told(address: str, player: str, table_id: TableId, watching: asyncio.Event, *, play: bool) -> list[Moment]:
    """Watch through the client, over either kind of stream, until a hand's score is told; return all moments."""
    moments = []
    async with (
        asyncio.timeout(SECONDS),
        connect(address, DevelopmentIdentity(PlayerId(player))) as client,
        client.play() as playing,
        aclosing((playing if play else client).watch(table_id)) as watched,
    ):
        async for moment in watched:
            watching.set()
            moments.append(moment)
            if isinstance(moment.posted, HandScored):
                return moments
    raise AssertionError("a watch has no end of its own")


async def test_watchers_of_all_replicas_are_told_what_is_posted(
    recorder: Recorder, ledger: Ledger, own_database_dsn: str, url: str
) -> None:
    """Who plays over Play and who watches elsewhere get the fine, then the score, as the ledger has them, once.

    The versions they see are contiguous, and each notice leaves the table as it was.
    """
    log = recorder.log
    async with (
        everything_follows(own_database_dsn, url, 2),
        replica(log, nats=OnNats(url, "one")) as one,
        replica(log, nats=OnNats(url, "other")) as other,
    ):
        game = await started(one, "homy-standard")
        table_id = TableId(game.table_id)
        begun = [asyncio.Event() for _ in range(2)]
        watches = (
            asyncio.create_task(told(one.address, "an", table_id, begun[0], play=True)),
            asyncio.create_task(told(other.address, "spectator", table_id, begun[1], play=False)),
        )
        await asyncio.gather(*(one.wait() for one in begun))
        await game.clients[2].call(table_pb.ForfeitSeatRequest(request_id=fresh(), table_id=game.table_id))
        await game.play(chance_of("told"))
        seen = await asyncio.gather(*watches)
    postings = await ledger.postings()
    assert [type(posting) for posting in postings] == [FinePosted, HandScored]
    for moments in seen:
        assert [moment.posted for moment in moments if moment.posted] == postings
        versions = [moment.version for moment in moments if not moment.posted]
        assert versions == list(range(versions[0], versions[0] + len(versions)))
        for before, moment in pairwise(moments):
            if moment.posted:
                assert (moment.table, moment.version, moment.update) == (before.table, before.version, None)
                assert moment.version >= moment.posted.version
