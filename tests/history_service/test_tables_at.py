"""GetTableAt: a table as it was at any version and moment of its record."""

from datetime import UTC, datetime, timedelta

import grpc

from audit.honest import Play, recorded
from baohuang.client import DevelopmentIdentity, connect_history
from baohuang.eventlog.codec import decode
from baohuang.eventlog.port import EventLog, StreamId, Version
from baohuang.gen.history.v1 import history_service_pb2 as pb
from baohuang.rules.evolve import evolve
from baohuang.rules.state import PlayerId, Table, TableId
from history_service.serving import Caller

TABLE = "00000000-0000-7000-8000-000000000000"


async def test_every_so_many_versions_of_a_record(log: EventLog, spectator: Caller) -> None:
    """The fold from the first event on, all of it open, by version and by instant; hashes are those of the record."""
    await recorded(log, Play(TableId(TABLE), "homy-qingdao", 2, restless=0.05), hands=2)
    stored = await log.read_stream(StreamId(TABLE), limit=10_000)
    closed = max(one.version for one in stored if one.type == "HandFinished")
    table: Table | None = None
    async with connect_history(spectator.address, DevelopmentIdentity(PlayerId("spectator"))) as client:
        for one, behind in zip(stored, (*stored[1:], None), strict=True):
            table = evolve(table, decode(one.type, one.data))
            if one.version % 17 == 1 and one.version <= closed:
                view = await client.table_at(TableId(TABLE), one.version)
                assert (view.table, view.version, view.hash) == (table, one.version, one.hash)
                if behind is None or behind.recorded_at > one.recorded_at:
                    assert await client.table_at(TableId(TABLE), one.recorded_at) == view


async def test_what_was_not_yet(log: EventLog, spectator: Caller) -> None:
    """Before the first event, and behind the last one: by version there is none, by instant the last."""
    await recorded(log, Play(TableId(TABLE), "ourgame-simple", 1), hands=1)
    stored = await log.read_stream(StreamId(TABLE), limit=10_000)
    early = (stored[0].recorded_at - timedelta(microseconds=1)).astimezone(UTC).isoformat()
    for request in (
        pb.GetTableAtRequest(table_id=TABLE, version=len(stored) + 1),
        pb.GetTableAtRequest(table_id=TABLE, version=2**31 - 1),
        pb.GetTableAtRequest(table_id=TABLE, instant=early),
    ):
        refused = await spectator.refused(request)
        assert (refused.code, refused.reason) == (grpc.StatusCode.NOT_FOUND, "NO_SUCH_VERSION")
    now = pb.GetTableAtRequest(table_id=TABLE, instant=datetime.max.replace(tzinfo=UTC).isoformat())
    response = await spectator.call(now)
    assert (response.table.version, response.table.hash) == (stored[-1].version, stored[-1].hash)
    assert Version(len(stored)) == response.table.version
