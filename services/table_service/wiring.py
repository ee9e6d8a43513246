"""Which servicers the table service's server carries, and what they stand on."""

from collections.abc import Sequence
from contextlib import AsyncExitStack

from baohuang.rpc.server import RpcServer
from table_service.settings import TableSettings


async def wire(server: RpcServer, settings: TableSettings, resources: AsyncExitStack) -> Sequence[str]:  # noqa: ARG001
    """Open what the servicers need (closed with `resources`, after the drain) and register them on `server.grpc`.

    Gives the full names of the services, for health and reflection.
    """
    return ()
