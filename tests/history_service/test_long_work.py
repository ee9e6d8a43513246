"""VerifyTable and ExportHand: what they find and give, and that plays go on beside them."""

import asyncio

import asyncpg
import grpc

from audit.honest import Play, recorded
from baohuang.eventlog.port import EventLog, StreamId
from baohuang.gen.history.v1 import history_service_pb2 as pb
from baohuang.handrecord import hand_of, public, read_record, write_record
from baohuang.rules.state import TableId, in_progress
from bench.random_player import chance_of
from history_service.serving import Caller
from tables.games import started
from tables.replicas import Replica

LONG = "00000000-0000-7000-8000-000000000000"


async def test_plays_go_on_while_a_long_table_is_verified(service: Replica, spectator: Caller, log: EventLog) -> None:
    """Service and verification share one event loop here: between two pieces of the one there is room for the other."""
    await recorded(log, Play(TableId(LONG), "homy-weihai", 1, restless=0.0), hands=5)
    events = len(await log.read_stream(StreamId(LONG), limit=10_000))
    game, chance = await started(service), chance_of("beside")
    verifying = [asyncio.create_task(spectator.operator.call(pb.VerifyTableRequest(table_id=LONG))) for _ in range(2)]
    moves = 0
    while not any(one.done() for one in verifying) and in_progress(await game.table()):
        await game.step(chance)
        moves += 1
    assert moves > 10
    for verified in await asyncio.gather(*verifying):
        assert verified == pb.VerifyTableResponse(events=events)


async def test_what_is_wrong_is_found(log: EventLog, spectator: Caller, own_database_dsn: str) -> None:
    """Where it is, by which check; with the chain alone only what breaks it; of many things the first hundred."""
    await recorded(log, Play(TableId(LONG), "ourgame-simple", 1), hands=1)
    session = await asyncpg.connect(own_database_dsn)
    try:
        await session.execute("set session_replication_role = replica")
        await session.execute("update eventlog.events set actor = 'zoe' where type = 'CardsPlayed' and version % 2 = 0")
    finally:
        await session.close()
    whole = await spectator.operator.call(pb.VerifyTableRequest(table_id=LONG))
    chained = await spectator.operator.call(pb.VerifyTableRequest(table_id=LONG, chain_only=True))
    assert {one.check for one in chained.findings} == {"chain"}
    assert {"chain", "command"} <= {one.check for one in whole.findings}
    assert whole.events == chained.events > len(whole.findings)
    assert all(one.version for one in whole.findings)
    await log.head(StreamId(LONG))
    for response in (whole, chained):
        assert len(response.findings) <= 100


async def test_a_hand_as_a_record(log: EventLog, spectator: Caller) -> None:
    """Each hand of a table that is over, all of it or what was shown; of any other it is told which it is."""
    await recorded(log, Play(TableId(LONG), "homy-classic", 3, restless=0.0), hands=3)
    hands = [one for one in await log.read_stream(StreamId(LONG), limit=10_000) if one.type == "HandFinished"]
    assert len(hands) == 3
    for number in range(1, 4):
        full = await hand_of(log, TableId(LONG), number)
        told = await spectator.call(pb.ExportHandRequest(table_id=LONG, hand=number))
        assert told.record == write_record(full)
        assert read_record(told.record).started.hand == number
        shown = await spectator.call(pb.ExportHandRequest(table_id=LONG, hand=number, public_only=True))
        assert shown.record == write_record(public(full))
    for number in (4, 2**31 - 1):
        refused = await spectator.refused(pb.ExportHandRequest(table_id=LONG, hand=number))
        assert (refused.code, refused.reason) == (grpc.StatusCode.NOT_FOUND, "NO_SUCH_HAND")
