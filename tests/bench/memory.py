"""Bytes that an idle table and an idle watcher cost a table service, a process of its own: less is better.

Measured by the memory its process has in use before and after. A held table is compared with the bare state in a
process that holds nothing else; a watcher with a stream that was sent as much and is then left open.
"""

import asyncio
import random
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from typing import Any, Final

import grpc

from baohuang.eventlog.postgres.log import open_log
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.gen.table.v1 import table_service_pb2_grpc, watch_pb2
from baohuang.rules.state import TableId
from table_service.identifiers import new_table_id

from .bare_streams import SERVICE
from .processes import Serving, baseline, resident, serving
from .recorded import append, table_in_mid_hand
from .row import Bench, Row

_TABLES: Final = 2000
_WATCHED: Final = 50
_WATCHERS: Final = 1000
_STREAMS_A_CONNECTION: Final = 500
_AT_ONCE: Final = 100
_CALLER: Final = (("baohuang-player", "bench"),)
_PLAYERS: Final = 200
"""Watchers are of so many players: one may have only so many streams open."""
_CHANNEL: Final = (("grpc.use_local_subchannel_pool", 1),)


async def run(wanted: Sequence[str]) -> Sequence[Row]:
    """Measure the wanted of both."""
    async with serving(1, {"BAOHUANG_MAX_CONNECTION_AGE_SECONDS": "3600"}) as served:
        ids = await _tables(served.dsn, _WATCHED + _TABLES)
        await _hold(served, ids[:_WATCHED])
        return [await _MEASURES[name](served, ids) for name in wanted]


async def _tables(dsn: str, count: int) -> list[TableId]:
    """Put so many tables into the log."""
    dice = random.Random(1)  # noqa: S311 - no secret
    ids = [new_table_id(datetime.now(UTC)) for _ in range(count)]
    async with open_log(dsn) as log:
        for first in range(0, count, _AT_ONCE):
            some = ids[first : first + _AT_ONCE]
            await asyncio.gather(*(append(log, one, table_in_mid_hand(one, dice)) for one in some))
    return ids


async def _hold(served: Serving, ids: Sequence[TableId]) -> None:
    """Let the service load tables, by asking for each."""
    async with grpc.aio.insecure_channel(served.services[0].address, options=_CHANNEL) as channel:
        get = table_service_pb2_grpc.TableServiceStub(channel).GetTable
        for first in range(0, len(ids), _AT_ONCE):
            some = ids[first : first + _AT_ONCE]
            await asyncio.gather(*(get(pb.GetTableRequest(table_id=one), metadata=_CALLER) for one in some))


async def _table(served: Serving, ids: Sequence[TableId]) -> Row:
    pid = served.services[0].child.pid
    before = resident(pid)
    await _hold(served, ids[_WATCHED:])
    value = (resident(pid) - before) / _TABLES
    async with baseline("bare_tables", str(_TABLES)) as bare:
        before = resident(bare.pid)
        await bare.hold()
        bytes_bare = (resident(bare.pid) - before) / _TABLES
    return Row("memory.table", value, "bytes", bytes_bare, "the state alone, folded")


async def _watcher(served: Serving, ids: Sequence[TableId]) -> Row:
    service = served.services[0]
    watched = [ids[number % _WATCHED] for number in range(_WATCHERS)]
    size = await _size_of_a_snapshot(service.address, ids[0])
    value = await _grown(service.address, watched, lambda: resident(service.child.pid))
    async with baseline("bare_streams", str(size)) as bare:
        bytes_bare = await _grown(f"127.0.0.1:{bare.said}", watched, lambda: resident(bare.pid))
    return Row("memory.watcher", value, "bytes", bytes_bare, "bare grpc.aio stream")


async def _size_of_a_snapshot(address: str, table_id: TableId) -> int:
    async with grpc.aio.insecure_channel(address, options=_CHANNEL) as channel:
        return len(await (_opened(channel, table_id, 0)).read())


def _opened(channel: grpc.aio.Channel, table_id: TableId, place: int) -> Any:
    request = watch_pb2.WatchTableRequest(table_id=table_id).SerializeToString()
    caller = (("baohuang-player", f"bench-{place % _PLAYERS}"),)
    return channel.unary_stream(f"/{SERVICE}/WatchTable", None, None)(request, metadata=caller)


async def _grown(address: str, watched: Sequence[TableId], memory: Callable[[], int]) -> float:
    """Return by how many bytes a server grows for each stream that is open, its first message read."""
    async with AsyncExitStack() as stack:
        connections = [
            await stack.enter_async_context(grpc.aio.insecure_channel(address, options=_CHANNEL))
            for _ in range(0, len(watched), _STREAMS_A_CONNECTION)
        ]
        await asyncio.gather(*(channel.channel_ready() for channel in connections))
        before = memory()
        streams = [
            _opened(connections[place // _STREAMS_A_CONNECTION], one, place) for place, one in enumerate(watched)
        ]
        await asyncio.gather(*(stream.read() for stream in streams))
        grown = memory() - before
        for stream in streams:
            stream.cancel()
    return grown / len(watched)


_MEASURES: Final = {"memory.table": _table, "memory.watcher": _watcher}
"""Tables first: what many watchers leave free would make room for them."""
BENCH: Final = Bench(tuple(_MEASURES), run)
