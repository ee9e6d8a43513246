"""The baseline of the play path: `python -m tests.bench.plays_skeleton`, a gRPC server with its traffic and no logic.

A play comes in as the same message, becomes one row of a group-committed insert (asyncpg, one multi-row statement a
flush, commits on), is answered with a message of the same size, and five players are pushed an update of the same size.
Nobody is asked who he is, nothing is checked, decided, hashed or remembered. It listens at `SKELETON_LISTEN`.
"""

import asyncio
import os
import signal
from collections import defaultdict
from collections.abc import AsyncIterator
from typing import Any, Final

import asyncpg
import grpc
import uvloop

from baohuang.gen.table.v1 import play_pb2, watch_pb2
from baohuang.gen.table.v1 import table_service_pb2 as pb
from table_service.playing.answers import Envelope

from .plays_script import Script, recorded

SERVICE: Final = "baohuang.table.v1.TableService"
_CREATE: Final = """
create table if not exists bare_plays (
    position bigint generated always as identity primary key, table_id text collate "C" not null, version int not null,
    request_id text collate "C" not null, data bytea not null, unique (table_id, version)
)
"""
_INSERT: Final = """
insert into bare_plays (table_id, version, request_id, data)
select * from unnest($1::text[], $2::integer[], $3::text[], $4::bytea[])
"""
_HASH: Final = bytes(32)
Row = tuple[str, int, str, bytes]
Queue = asyncio.Queue[bytes]


class Rows:
    """Inserts what waits, all of it in one statement, again and again."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._waiting: list[tuple[Row, asyncio.Future[None]]] = []
        self._arrived = asyncio.Event()

    async def insert(self, row: Row) -> None:
        """Return when the row is committed."""
        done = asyncio.get_running_loop().create_future()
        self._waiting.append((row, done))
        self._arrived.set()
        await done

    async def run(self) -> None:
        """Flush for ever."""
        statement = await self._connection.prepare(_INSERT)
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            batch, self._waiting = self._waiting, []
            if batch:
                await statement.fetch(*zip(*(row for row, _ in batch), strict=True))
            for _, done in batch:
                if not done.done():
                    done.set_result(None)


class Skeleton:
    """The methods, raw bytes out."""

    def __init__(self, script: Script, rows: Rows) -> None:
        self._script = script
        self._rows = rows
        self._played: defaultdict[str, int] = defaultdict(int)
        self._watching: defaultdict[str, list[Queue]] = defaultdict(list)
        self._playing: defaultdict[str, list[Queue]] = defaultdict(list)
        self._wrapped = [_wrapped(play.update) for play in script.plays]

    async def act(self, request: pb.ActRequest, _context: object) -> bytes:
        """Store a play, push it, answer."""
        version = await self._stored(request)
        return pb.ActResponse(table_id=request.table_id, version=version, hash=_HASH).SerializeToString()

    async def _stored(self, request: pb.ActRequest) -> int:
        """Store a play and push it; return its version."""
        place = self._played[request.table_id]
        play = self._script.plays[place]
        self._played[request.table_id] += 1
        await self._rows.insert((request.table_id, play.version, request.request_id, play.update))
        for queue in self._watching[request.table_id]:
            queue.put_nowait(play.update)
        for queue in self._playing[request.table_id]:
            queue.put_nowait(self._wrapped[place])
        return play.version

    async def watch(self, request: watch_pb2.WatchTableRequest, _context: object) -> AsyncIterator[bytes]:
        """Give the snapshot, then whatever is played."""
        queue: Queue = asyncio.Queue()
        self._watching[request.table_id].append(queue)
        try:
            yield self._script.snapshot
            while True:
                yield await queue.get()
        finally:
            self._watching[request.table_id].remove(queue)

    async def play(self, requests: AsyncIterator[pb.PlayRequest], _context: object) -> AsyncIterator[bytes]:
        """Do both over one stream, for one table."""
        queue: Queue = asyncio.Queue()
        reading = asyncio.create_task(self._read(requests, queue))
        try:
            while True:
                yield await queue.get()
        finally:
            reading.cancel()

    async def _read(self, requests: AsyncIterator[pb.PlayRequest], queue: Queue) -> None:
        async for request in requests:
            if request.HasField("watch"):
                self._playing[request.watch.table_id].append(queue)
                queue.put_nowait(_wrapped(self._script.snapshot))
            else:
                version = await self._stored(request.act)
                ids = {"request_id": request.act.request_id, "table_id": request.act.table_id}
                answer = play_pb2.Accepted(**ids, version=version, hash=_HASH)
                queue.put_nowait(play_pb2.PlayResponse(accepted=answer).SerializeToString())


def _wrapped(message: bytes) -> bytes:
    """Return a table's message as a Play stream has it; whose table it is nobody looks at, so it is any."""
    return Envelope("0" * 36).around(message)


def _handlers(skeleton: Skeleton) -> Any:
    return grpc.method_handlers_generic_handler(
        SERVICE,
        {
            "Act": grpc.unary_unary_rpc_method_handler(skeleton.act, pb.ActRequest.FromString),
            "Play": grpc.stream_stream_rpc_method_handler(skeleton.play, pb.PlayRequest.FromString),
            "WatchTable": grpc.unary_stream_rpc_method_handler(
                skeleton.watch,
                watch_pb2.WatchTableRequest.FromString,
            ),
        },
    )


async def _serve() -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    connection = await asyncpg.connect(os.environ["BAOHUANG_POSTGRES_DSN"])
    await connection.execute(_CREATE)
    rows = Rows(connection)
    flushing = asyncio.create_task(rows.run())
    server = grpc.aio.server(options=(("grpc.so_reuseport", 0),))
    server.add_generic_rpc_handlers((_handlers(Skeleton(await recorded(), rows)),))
    server.add_insecure_port(os.environ["SKELETON_LISTEN"])
    await server.start()
    print(f"listening on {os.environ['SKELETON_LISTEN']}", flush=True)
    await stop.wait()
    flushing.cancel()
    await server.stop(None)


if __name__ == "__main__":
    uvloop.run(_serve())
