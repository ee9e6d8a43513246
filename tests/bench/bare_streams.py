"""The baseline of a watcher: `python -m tests.bench.bare_streams BYTES` sends each stream one message, no more.

It keeps them open. It answers the path of WatchTable, and knows no table, no hub and no caller. It says "ready" and
its port.
"""

import asyncio
import sys
from collections.abc import AsyncIterator

import grpc
import uvloop

SERVICE = "baohuang.table.v1.TableService"


async def _serve(size: int) -> None:
    message = bytes(size)

    async def watch(_request: bytes, _context: object) -> AsyncIterator[bytes]:
        yield message
        await asyncio.Event().wait()

    server = grpc.aio.server()
    handlers = {"WatchTable": grpc.unary_stream_rpc_method_handler(watch)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print("ready", port, flush=True)
    await server.wait_for_termination()


if __name__ == "__main__":
    uvloop.run(_serve(int(sys.argv[1])))
