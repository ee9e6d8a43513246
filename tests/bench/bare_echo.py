"""The baseline of a call: `python -m tests.bench.bare_echo` gives back what it gets. It says "ready" and its port."""

import grpc
import uvloop

SERVICE = "bench.Echo"


async def _serve() -> None:
    async def echo(request: bytes, _context: object) -> bytes:
        return request

    server = grpc.aio.server()
    handlers = {"Echo": grpc.unary_unary_rpc_method_handler(echo)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print("ready", port, flush=True)
    await server.wait_for_termination()


if __name__ == "__main__":
    uvloop.run(_serve())
