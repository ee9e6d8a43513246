import asyncio
from copy import deepcopy

import grpc

from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import Version
from baohuang.gen.table.v1 import table_service_pb2 as pb
from tables.clients import Client, ready, sit, stand
from tables.games import opened, seated
from tables.logs import FrontLog
from tables.replicas import replica


async def test_a_log_restored_behind_a_replica_is_believed(log: MemoryLog) -> None:
    """The replica holds a version that the log has not any more: it goes back to the log's, and serves on.

    Both a command that is legal in either state and one that is legal in the log's alone are accepted.
    """
    front = FrontLog(log)
    async with replica(front) as service:
        game = await seated(service)
        backup, version = deepcopy(log), (await game.head()).version
        await game.clients[0].call(ready(game.table_id))
        front.behind = backup
        assert (await game.clients[1].call(ready(game.table_id))).version == version + 1
        backup, version = deepcopy(backup), Version(version + 1)
        await game.clients[2].call(stand(game.table_id))
        front.behind = backup
        assert (await game.clients[2].call(ready(game.table_id))).version == version + 1


async def test_a_table_that_a_restored_log_does_not_have_is_gone(log: MemoryLog) -> None:
    """NOT_FOUND, at once, to whoever still plays there."""
    front = FrontLog(log)
    async with replica(front) as service:
        game = await opened(service)
        front.behind = MemoryLog()
        for request in (sit(game.table_id, 0), stand(game.table_id)):
            refused = await asyncio.wait_for(game.clients[0].refused(request), 5)
            assert (refused.code, refused.reason) == (grpc.StatusCode.NOT_FOUND, "NO_SUCH_TABLE")


async def test_a_log_with_another_history_is_an_alarm_once(log: MemoryLog) -> None:
    """The version is the same and the hash is not: INTERNAL and a log line, then the table is loaded anew."""
    front = FrontLog(log)
    async with replica(front) as service:
        game = await seated(service)
        other = deepcopy(log)
        await game.clients[0].call(ready(game.table_id))
        front.behind = other
        async with replica(other) as elsewhere:
            await Client(elsewhere.channel, "bo").call(ready(game.table_id))
        refused = await game.clients[2].refused(ready(game.table_id))
        assert (refused.code, refused.reason) == (grpc.StatusCode.INTERNAL, "INTERNAL")
        await game.clients[2].call(ready(game.table_id))
        view = (await game.clients[2].call(pb.GetTableRequest(table_id=game.table_id))).table
        assert [seat.ready for seat in view.seats] == [False, True, True, False, False]
