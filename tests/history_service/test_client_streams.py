"""The SDK's reading of the record, when streams break and services go away."""

from collections.abc import Callable
from typing import Any

import grpc
import pytest

from baohuang.client.errors import NotAllowedError, UnreachableError
from baohuang.client.patience import Patience
from baohuang.client.record_stream import RecordStream
from baohuang.gen.history.v1 import history_service_pb2 as pb
from baohuang.gen.history.v1 import history_service_pb2_grpc
from history_service.serving import Caller
from tables.games import started
from tables.replicas import Replica

IMPATIENT = Patience(attempts=3, first_wait_seconds=0.001, longest_wait_seconds=0.001, silence_seconds=20.0)


class Breaking:
    """A stream of the service that breaks off after so many messages."""

    def __init__(self, stream: Any, messages: int) -> None:
        self._stream = stream
        self._left = messages

    async def read(self) -> object:
        """Read a message, if it is still whole."""
        if not self._left:
            nothing = grpc.aio.Metadata()
            raise grpc.aio.AioRpcError(grpc.StatusCode.UNAVAILABLE, nothing, nothing, "broken", "broken")
        self._left -= 1
        return await self._stream.read()

    def cancel(self) -> object:
        """Want no more of it."""
        return self._stream.cancel()


def breaking(caller: Caller, messages: int) -> Callable[[pb.StreamEventsRequest], Breaking]:
    """Give what opens streams that break after so many messages each."""
    stub = history_service_pb2_grpc.HistoryServiceStub(caller.channel)
    who = (("baohuang-player", caller.player), ("baohuang-role", caller.role))
    return lambda request: Breaking(stub.StreamEvents(request, metadata=who), messages)


@pytest.mark.parametrize("order", [pb.ORDER_OLDEST_FIRST, pb.ORDER_NEWEST_FIRST])
async def test_a_stream_that_breaks_is_gone_on_with(
    service: Replica, spectator: Caller, order: "pb.Order.ValueType"
) -> None:
    """Every event once and in order, though each stream lasts for three messages only."""
    game = await started(service)
    request = pb.StreamEventsRequest(filter=pb.EventFilter(table_id=game.table_id), order=order)
    whole = [one.version for one in await spectator.stream(request)]
    assert len(whole) > 10
    reading = RecordStream(request, breaking(spectator, 3), IMPATIENT)
    assert [event.version async for event in reading.events()] == whole


async def test_a_stream_that_never_begins(service: Replica, spectator: Caller) -> None:
    """After so many attempts it is unreachable; what is refused is refused at once."""
    game = await started(service)
    request = pb.StreamEventsRequest(filter=pb.EventFilter(table_id=game.table_id))
    with pytest.raises(UnreachableError):
        await anext(RecordStream(request, breaking(spectator, 0), IMPATIENT).events())
    with pytest.raises(NotAllowedError):
        await anext(RecordStream(pb.StreamEventsRequest(), breaking(spectator, 9), IMPATIENT).events())
