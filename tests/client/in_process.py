"""The table service in this process, over a log in memory, and ways to get between it and a client."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, cast

import grpc

from baohuang.client import DevelopmentIdentity, Patience, TableClient, connect
from baohuang.eventlog.codec import decode
from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import StoredEvent, StreamId
from baohuang.rpc.server import RpcServer
from baohuang.rpc.settings import ServerSettings
from baohuang.rules.evolve import fold
from baohuang.rules.state import PlayerId, Table, TableId
from table_service.seeds import RandomSeeds, SeedSource
from table_service.wiring import SERVICES, serving

ALICE: Final = PlayerId("alice")
HASTY: Final = Patience(call_seconds=2.0, first_wait_seconds=0.01, longest_wait_seconds=0.1, spread_seconds=0.01)
"""Patience for tests: as many attempts, shorter waits."""
_SETTINGS: Final = ServerSettings(insecure_dev=True, drain_grace_seconds=0.5)


@dataclass(frozen=True, slots=True)
class Service:
    """A running service: its port, its log, and `send_watchers_away`, which it does before it drains."""

    port: int
    log: MemoryLog
    send_watchers_away: Callable[[], None]
    server: RpcServer

    @property
    def address(self) -> str:
        """Where it serves."""
        return f"127.0.0.1:{self.port}"

    def client(self, player: PlayerId = ALICE) -> AbstractAsyncContextManager[TableClient]:
        """Give a context manager of a client for the player."""
        return connect(self.address, DevelopmentIdentity(player), HASTY)

    async def events(self, table_id: TableId) -> Sequence[StoredEvent]:
        """Return all that the log has of the table."""
        return await self.log.read_stream(StreamId(table_id))

    async def table(self, table_id: TableId) -> Table:
        """Return the table as the log has it."""
        table = fold(decode(event.type, event.data) for event in await self.events(table_id))
        assert table is not None
        return table


@asynccontextmanager
async def running(
    log: MemoryLog | None = None,
    port: int = 0,
    seeds: SeedSource | None = None,
    settings: ServerSettings = _SETTINGS,
) -> AsyncIterator[Service]:
    """Run the service over the log, on the port, until exit."""
    log = MemoryLog() if log is None else log
    server = RpcServer(settings, f"127.0.0.1:{port}")
    async with serving(server, log, seeds or RandomSeeds()) as hub:
        bound = await server.start(*SERVICES)
        try:
            yield Service(bound, log, hub.drain, server)
        finally:
            await server.drain()


class LosesFirstReply(grpc.aio.UnaryUnaryClientInterceptor):  # type: ignore[type-arg] # generic in the stubs only
    """Lets the first call of each method be carried out, and then loses the reply as a broken connection would."""

    def __init__(self) -> None:
        self.lost: list[Any] = []
        self.retried: list[Any] = []

    async def intercept_unary_unary(
        self, continuation: Callable[..., Any], client_call_details: grpc.aio.ClientCallDetails, request: Any
    ) -> Any:
        """Carry the call out, and lose its reply the first time."""
        call = await continuation(client_call_details, request)
        if type(request) in map(type, self.lost):
            self.retried.append(request)
            return call
        await call
        self.lost.append(request)
        empty = grpc.aio.Metadata()
        raise grpc.aio.AioRpcError(grpc.StatusCode.UNAVAILABLE, empty, empty, "the reply was lost", None)


@asynccontextmanager
async def losing_client(service: Service, player: PlayerId) -> AsyncIterator[tuple[TableClient, LosesFirstReply]]:
    """Give a client whose first reply of every method is lost, and what lost them."""
    loser = LosesFirstReply()
    async with grpc.aio.insecure_channel(service.address, interceptors=[cast("Any", loser)]) as channel:
        yield TableClient(channel, DevelopmentIdentity(player), HASTY), loser
