"""A server that speaks the contract and says what a test wants: for what the real one never does."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import grpc

from baohuang.client import DevelopmentIdentity, TableClient
from baohuang.gen.table.v1 import table_service_pb2, watch_pb2
from baohuang.rpc.errors import Refusal
from baohuang.rpc.status import text, trailers
from client.in_process import ALICE, HASTY

_SERVICE = table_service_pb2.DESCRIPTOR.services_by_name["TableService"].full_name
BROKEN = "Received RST_STREAM with error code 2"
"""A line that breaks the stream off as the network does: INTERNAL, without the service's own details."""
Line = watch_pb2.WatchTableResponse | Refusal | str


class ScriptedTables:
    """Answers the first WatchTable with the first script, the next with the next; each ends its stream."""

    def __init__(self, scripts: Sequence[Sequence[Line]]) -> None:
        self._scripts = iter(scripts)
        self.asked_after: list[int] = []

    async def watch_table(
        self, request: watch_pb2.WatchTableRequest, context: Any
    ) -> AsyncIterator[watch_pb2.WatchTableResponse]:
        """Say the next script."""
        self.asked_after.append(request.after_version)
        for line in next(self._scripts):
            if isinstance(line, Refusal):
                await context.abort(line.code, text(line), trailers(line))
            elif isinstance(line, str):
                await context.abort(grpc.StatusCode.INTERNAL, line)
            else:
                yield line


@asynccontextmanager
async def saying(*scripts: Sequence[Line]) -> AsyncIterator[tuple[TableClient, ScriptedTables]]:
    """Run such a server, with a client of it."""
    server = grpc.aio.server()
    tables = ScriptedTables(scripts)
    codec = (watch_pb2.WatchTableRequest.FromString, watch_pb2.WatchTableResponse.SerializeToString)
    methods = {"WatchTable": grpc.unary_stream_rpc_method_handler(tables.watch_table, *codec)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(_SERVICE, methods),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield TableClient(channel, DevelopmentIdentity(ALICE), HASTY), tables
    await server.stop(None)
