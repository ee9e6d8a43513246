"""How many streams one player may have open at a time on one replica."""

import asyncio
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from baohuang.rpc.errors import Reason
from baohuang.rpc.status import read_details
from baohuang.rpc.stream_limit import MOST_OF_ANYBODY
from eventually import eventually
from rpc.echo import Client, dev_settings, serving

STREAMS = ("Downstream", "Upstream", "Both")
MOST = 3


class Gate:
    """Keeps calls open until it is opened."""

    def __init__(self) -> None:
        self.waiting = 0
        self.open = asyncio.Event()

    async def pass_through(self, text: str, _context: object) -> str:
        """Wait for the gate."""
        self.waiting += 1
        await self.open.wait()
        return text

    async def has(self, number: int) -> bool:
        """Tell whether so many have come."""
        return self.waiting == number


async def echo(text: str, _context: object) -> str:
    """Answer at once."""
    return text


def begun(client: Client, method: str, name: str = "alice", role: str = "player") -> "asyncio.Task[list[str]]":
    """Begin a call."""
    return asyncio.create_task(client.call(method, "x", (("baohuang-player", name), ("baohuang-role", role))))


async def refused(call: "asyncio.Task[list[str]]") -> Any:
    """Return the details of a call that is refused at once."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    details = read_details(caught.value)
    assert details is not None
    return caught.value.code(), details.reason


@pytest.mark.parametrize("method", STREAMS)
async def test_a_player_has_so_many_streams_open(method: str) -> None:
    """One more is refused, by whatever method; one that has ended makes room; other players have their own."""
    gate, too_many = Gate(), (grpc.StatusCode.RESOURCE_EXHAUSTED, Reason.TOO_MANY_STREAMS)
    async with serving(gate.pass_through, dev_settings(max_streams_per_player=MOST)) as (_, client):
        calls = [begun(client, method) for _ in range(MOST)]
        await eventually(lambda: gate.has(MOST))
        assert [await refused(begun(client, one)) for one in STREAMS] == [too_many] * 3
        calls += [begun(client, method, "bob"), begun(client, "Unary")]
        await eventually(lambda: gate.has(MOST + 2))
        calls.pop(0).cancel()
        # A stream whose client has gone is over a moment later.
        await eventually(lambda: is_taken(client, calls, gate))
        gate.open.set()
        assert all(await asyncio.gather(*calls))


async def is_taken(client: Client, calls: "list[asyncio.Task[list[str]]]", gate: Gate) -> bool:
    """Try to open another stream, and tell whether it was."""
    before = gate.waiting
    call = begun(client, "Both")
    while gate.waiting == before and not call.done():
        await asyncio.wait([call], timeout=0.01)
    if call.done() and call.exception():
        return False
    calls.append(call)
    return True


@pytest.mark.parametrize("role", ["operator", "service"])
async def test_operators_and_services_have_as_many_as_they_like(role: str) -> None:
    """Their number is bounded by their connections alone."""
    gate = Gate()
    async with serving(gate.pass_through, dev_settings(max_streams_per_player=MOST)) as (_, client):
        calls = [begun(client, "Both", "olga", role) for _ in range(3 * MOST)]
        await eventually(lambda: gate.has(3 * MOST))
        gate.open.set()
        assert all(await asyncio.gather(*calls))


async def test_what_was_refused_or_failed_is_not_counted() -> None:
    """However often it is tried."""

    async def fail(_text: str, _context: object) -> str:
        raise RuntimeError("a bug")

    async with serving(fail, dev_settings(max_streams_per_player=1)) as (_, client):
        for _ in range(5):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await begun(client, "Both")
            assert caught.value.code() is grpc.StatusCode.INTERNAL


async def test_what_anybody_may_open_is_bounded_in_all() -> None:
    """Watches of health without an identity: so many and no more; checks are answered on."""
    async with serving(echo, dev_settings(max_concurrent_streams=2 * MOST_OF_ANYBODY)) as (_, client):
        stub = health_pb2_grpc.HealthStub(client.channel)
        watches = [stub.Watch(health_pb2.HealthCheckRequest()) for _ in range(MOST_OF_ANYBODY)]
        for watch in watches:
            assert (await watch.read()).status == health_pb2.HealthCheckResponse.SERVING
        one_more = stub.Watch(health_pb2.HealthCheckRequest())
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await one_more.read()
        details = read_details(caught.value)
        assert details is not None
        assert (caught.value.code(), details.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, Reason.TOO_MANY_STREAMS)
        assert (await stub.Check(health_pb2.HealthCheckRequest())).status == health_pb2.HealthCheckResponse.SERVING
        for watch in watches:
            watch.cancel()
