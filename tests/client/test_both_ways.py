"""A stream in both directions whose end meets what its client writes."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest

from baohuang.client import DevelopmentIdentity
from baohuang.client.both_ways import BothWays
from baohuang.client.calls import Calls
from baohuang.client.errors import reason_of
from baohuang.client.reading import END
from baohuang.gen.table.v1 import play_pb2, table_service_pb2_grpc, watch_pb2
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.rpc.errors import Exhausted, Reason, Refusal
from baohuang.rpc.status import text, trailers
from client.in_process import ALICE

_ANSWER = play_pb2.PlayResponse(accepted=play_pb2.Accepted(request_id="one", version=7))
_AWAY = play_pb2.PlayResponse(reconnect=play_pb2.PlayReconnect(reason=watch_pb2.RECONNECT_REASON_DRAINING))
_STREAMS = 20
"""Of as many, some have the one order of a status and a failed write, some the other."""
OVER = (grpc.aio.AioRpcError, asyncio.InvalidStateError)
_COMMAND = pb.PlayRequest(unwatch=play_pb2.Unwatch(table_id="any"))


class _Leaving(table_service_pb2_grpc.TableServiceServicer):
    """Answers the first command with what it is to say, and ends the stream, without a look at what comes besides."""

    def __init__(self, says: Sequence[play_pb2.PlayResponse], refusal: Refusal | None) -> None:
        self._says = says
        self._refusal = refusal

    async def Play(self, request_iterator: Any, context: Any) -> None:  # type: ignore[override] # noqa: N802
        """See the class."""
        await anext(request_iterator)
        for message in self._says:
            await context.write(message)
        if self._refusal:
            await context.abort(self._refusal.code, text(self._refusal), trailers(self._refusal))


async def write_on(stream: BothWays) -> None:
    """Write until it fails."""
    async with asyncio.timeout(30):
        while True:
            await stream.write(_COMMAND)


@asynccontextmanager
async def opened(*says: play_pb2.PlayResponse, refusal: Refusal | None = None) -> AsyncIterator[Callable[[], BothWays]]:
    """Give what opens streams to a service that says so and leaves."""
    server, leaving = grpc.aio.server(), _Leaving(says, refusal)  # type: ignore[abstract] # of the contract one method
    table_service_pb2_grpc.add_TableServiceServicer_to_server(leaving, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        method = table_service_pb2_grpc.TableServiceStub(channel).Play
        yield lambda: Calls(DevelopmentIdentity(ALICE)).open_both_ways(method)
    await server.stop(None)


@asynccontextmanager
async def cut_off(*says: play_pb2.PlayResponse, refusal: Refusal | None = None) -> AsyncIterator[BothWays]:
    """Give a stream of which nothing was read, and on which something was written behind its end."""
    async with opened(*says, refusal=refusal) as open_stream:
        stream = open_stream()
        with pytest.raises(OVER):
            await write_on(stream)
        yield stream


async def test_what_was_sent_before_the_end_is_read() -> None:
    """A write that met the end of the stream takes nothing away: the answers, the word to reconnect, and OK."""
    async with cut_off(_ANSWER, _AWAY) as stream:
        assert [await stream.read() for _ in range(3)] == [_ANSWER, _AWAY, END]


async def test_the_end_is_the_one_the_service_gave() -> None:
    """The status of a stream that a write met the end of is the service's, with its details."""
    async with cut_off(_ANSWER, refusal=Exhausted(Reason.SLOW_READER, "too slow")) as stream:
        assert await stream.read() == _ANSWER
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await stream.read()
        assert (failed.value.code(), reason_of(failed.value)) == (
            grpc.StatusCode.RESOURCE_EXHAUSTED,
            Reason.SLOW_READER,
        )


async def ends_while_written(open_stream: Callable[[], BothWays]) -> tuple[list[object], grpc.StatusCode, str]:
    """Read a stream to its end while it is written to; give what came, and the status."""
    stream, came = open_stream(), []
    writing = asyncio.create_task(write_on(stream))
    code, reason = grpc.StatusCode.OK, ""
    try:
        while (message := await stream.read()) is not END:
            came.append(message)
    except grpc.aio.AioRpcError as failed:
        code, reason = failed.code(), reason_of(failed)
    with pytest.raises(OVER):
        await writing
    return came, code, reason


async def test_an_end_that_a_write_meets_while_it_is_read_for() -> None:
    """The service's OK is found behind its last message, whether grpc has it before or after what became of a write."""
    async with opened(_ANSWER, _AWAY) as open_stream:
        ends = [await ends_while_written(open_stream) for _ in range(_STREAMS)]
    assert ends == [([_ANSWER, _AWAY], grpc.StatusCode.OK, "")] * _STREAMS


async def test_a_refusal_that_a_write_meets_while_it_is_read_for() -> None:
    """Who is refused a stream learns why, though he writes on: else he would come again and again."""
    async with opened(refusal=Exhausted(Reason.SLOW_READER, "too slow")) as open_stream:
        ends = [await ends_while_written(open_stream) for _ in range(_STREAMS)]
    assert ends == [([], grpc.StatusCode.RESOURCE_EXHAUSTED, Reason.SLOW_READER)] * _STREAMS
