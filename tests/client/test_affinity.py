"""The table of a call, in its metadata."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import grpc
import pytest

from baohuang.client import ClientError, DevelopmentIdentity, connect
from baohuang.client.affinity import TABLE_ID_KEY, affinity
from baohuang.gen.table.v1.table_service_pb2 import GetTableRequest, ListTablesRequest
from baohuang.rules.state import PlayerId, TableId

TABLE = "0190c2f4-0000-7000-8000-000000000001"


class Hears(grpc.aio.ServerInterceptor):  # type: ignore[type-arg] # generic in the stubs only
    """Notes the metadata of every call, to a server that serves nothing."""

    def __init__(self) -> None:
        self.heard: dict[str, Mapping[str, str | bytes]] = {}

    async def intercept_service(self, continuation: Callable[[Any], Awaitable[Any]], call: Any) -> Any:
        """Note it, and go on."""
        self.heard[call.method.rpartition("/")[2]] = dict(call.invocation_metadata)
        return await continuation(call)


async def test_calls_and_watches_name_their_table() -> None:
    """Unary calls and streams that are about one table do; what is about none does not."""
    hears = Hears()
    server = grpc.aio.server(interceptors=[hears])
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with connect(f"127.0.0.1:{port}", DevelopmentIdentity(PlayerId("an"))) as client:
        for asking in (client.get_table(TableId(TABLE)), anext(client.watch(TableId(TABLE))), client.open_table("x")):
            with pytest.raises(ClientError):
                await asking
    await server.stop(None)
    named = {method: metadata.get(TABLE_ID_KEY) for method, metadata in hears.heard.items()}
    assert named == {"GetTable": TABLE, "WatchTable": TABLE, "OpenTable": None}


@pytest.mark.parametrize("table_id", ["", "三", "a\nb", "\x00"])
def test_what_metadata_cannot_carry_is_left_out(table_id: str) -> None:
    """The request says it all the same, and is answered for what it says."""
    assert affinity(GetTableRequest(table_id=table_id)) == ()
    assert affinity(ListTablesRequest()) == ()
