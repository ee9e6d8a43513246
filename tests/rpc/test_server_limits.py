import asyncio
import socket

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from baohuang.rpc.server import ListenError, RpcServer
from eventually import eventually
from rpc.echo import ALICE, SERVICE, Client, dev_settings, handlers, serving

SERVING = health_pb2.HealthCheckResponse.SERVING
UNKNOWN = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


async def echo(text: str, _context: object) -> str:
    return text


async def test_a_taken_port_is_refused() -> None:
    """SO_REUSEPORT is off: a second server on a port says so, instead of sharing it unnoticed."""
    first = RpcServer(dev_settings(), "127.0.0.1:0")
    port = await first.start()
    second = RpcServer(dev_settings(), f"127.0.0.1:{port}")
    with pytest.raises(ListenError, match=f"127.0.0.1:{port}"):
        await second.start()
    await first.drain()


async def test_a_port_taken_by_any_program_is_refused() -> None:
    """The same for a listener that is no gRPC server."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = RpcServer(dev_settings(), f"127.0.0.1:{listener.getsockname()[1]}")
        with pytest.raises(ListenError):
            await server.start()


async def test_health_is_kept_per_service_and_flips_before_the_drain_ends_calls() -> None:
    """A watcher sees SERVING, then NOT_SERVING while a call of before the drain still runs to its end."""
    entered, go_on = asyncio.Event(), asyncio.Event()

    async def act(text: str, _context: object) -> str:
        entered.set()
        await go_on.wait()
        return text

    async with serving(act) as (server, client):
        watch = health_pb2_grpc.HealthStub(client.channel).Watch(health_pb2.HealthCheckRequest(service=SERVICE))
        first = await anext(aiter(watch))
        call = asyncio.ensure_future(client.call("Unary", "kept"))
        await entered.wait()
        drain = asyncio.ensure_future(server.drain())
        second = await anext(aiter(watch))
        watch.cancel()
        go_on.set()
        assert await call == ["kept"]
        await asyncio.wait_for(drain, 5)
    assert (first.status, second.status) == (SERVING, NOT_SERVING)


async def test_watchers_are_sent_away_once_it_is_not_ready() -> None:
    """Who is told to go elsewhere is told so when health says NOT_SERVING, and no new call is begun; also who asks."""
    told: list[int] = []

    async with serving(echo) as (server, client):

        def send_away() -> None:
            told.append(server._health._status[SERVICE])
            calls.append(asyncio.ensure_future(client.call("Unary", "late")))

        calls: list[asyncio.Future[list[str]]] = []
        server.when_draining(send_away)
        await asyncio.wait_for(server.drain(), 5)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await calls[0]
    assert told[0] == NOT_SERVING
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    assert "DRAINING" in str(caught.value.trailing_metadata())


async def test_a_start_that_fails_leaves_nothing_listening() -> None:
    """The metrics' address is taken: the port of the calls, which was bound before, is free again."""
    with socket.create_server(("127.0.0.1", 0)) as taken, socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
        free.close()
        settings = dev_settings(metrics_listen=f"127.0.0.1:{taken.getsockname()[1]}")
        with pytest.raises(ListenError, match="metrics"):
            await RpcServer(settings, address).start()
    with socket.create_server(("127.0.0.1", int(address.rpartition(":")[2]))):
        pass


async def test_a_drain_ends_within_its_grace_period() -> None:
    """A call that never ends is cut off when the grace period is over."""
    entered = asyncio.Event()

    async def act(text: str, _context: object) -> str:
        entered.set()
        await asyncio.Event().wait()
        return text

    async with serving(act, dev_settings(drain_grace_seconds=0.3)) as (server, client):
        call = asyncio.ensure_future(client.call("Both", "x"))
        await entered.wait()
        await asyncio.wait_for(server.drain(), 3)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call
    assert caught.value.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)


async def test_a_health_watch_ends_with_the_drain_and_does_not_hold_it_up() -> None:
    """However long the grace period is: each watch is told NOT_SERVING and ends, that of an unknown service too."""
    async with serving(echo, dev_settings(drain_grace_seconds=3600.0)) as (server, client):
        stub = health_pb2_grpc.HealthStub(client.channel)
        watches = [stub.Watch(health_pb2.HealthCheckRequest(service=name)) for name in (SERVICE, "", "none")]
        told = [[(await anext(aiter(watch))).status] for watch in watches]
        await asyncio.wait_for(server.drain(), 10)
        for statuses, watch in zip(told, watches, strict=True):
            statuses += [response.status async for response in watch]
            assert await watch.code() is grpc.StatusCode.OK
    assert told == [[SERVING, NOT_SERVING], [SERVING, NOT_SERVING], [UNKNOWN]]


async def test_an_unread_health_watch_does_not_hold_up_the_drain() -> None:
    """A watcher of health that never reads costs the drain no more than its bound."""
    async with serving(echo) as (server, client):
        stub = health_pb2_grpc.HealthStub(client.channel)
        watches = [stub.Watch(health_pb2.HealthCheckRequest(service=SERVICE)) for _ in range(20)]
        assert await client.call("Unary", "up") == ["up"]
        await asyncio.wait_for(server.drain(), 6)
        for watch in watches:
            watch.cancel()


async def test_a_message_over_the_limit_is_refused() -> None:
    """64 KiB is the most a client may send in one message; the server lives on."""
    async with serving(echo) as (_, client):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await client.call("Unary", "x" * 65536)
        assert await client.call("Unary", "x" * 65000) == ["x" * 65000]
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


async def test_a_connection_has_so_many_calls_and_streams_at_once() -> None:
    """One more waits at the client, and is served when another has ended; the next connection has its own."""
    entered: list[str] = []
    go_on = asyncio.Event()

    async def held(text: str, _context: object) -> str:
        entered.append(text)
        await go_on.wait()
        return text

    async def has_entered(count: int) -> bool:
        return len(entered) == count

    server = RpcServer(dev_settings(max_concurrent_streams=2), "127.0.0.1:0")
    server.grpc.add_generic_rpc_handlers((handlers(held),))
    address = f"127.0.0.1:{await server.start(SERVICE)}"
    own = (("grpc.use_local_subchannel_pool", 1),)
    async with (
        grpc.aio.insecure_channel(address, options=own) as channel,
        grpc.aio.insecure_channel(address, options=own) as another,
    ):
        calls = [asyncio.ensure_future(Client(channel).call("Downstream", "0"))]
        await eventually(lambda: has_entered(1))
        calls += [asyncio.ensure_future(Client(channel).call("Downstream", text)) for text in ("1", "2")]
        await eventually(lambda: has_entered(2))
        calls.append(asyncio.ensure_future(Client(another).call("Downstream", "3")))
        await eventually(lambda: has_entered(3))
        assert sorted(entered) == ["0", "1", "3"]
        go_on.set()
        assert await asyncio.gather(*calls) == [["first", text] for text in "0123"]
    await server.drain()


async def test_reflection_lists_the_services() -> None:
    """`grpcurl list` finds what is served, without an identity."""
    async with serving(echo) as (_, client):
        info = reflection_pb2_grpc.ServerReflectionStub(client.channel).ServerReflectionInfo
        call = info(iter([reflection_pb2.ServerReflectionRequest(list_services="")]))
        reply = await anext(aiter(call))
        call.cancel()
    listed = {service.name for service in reply.list_services_response.service}
    assert {SERVICE, "grpc.health.v1.Health"} <= listed


def pings_every(milliseconds: int) -> tuple[tuple[str, int], ...]:
    return (
        ("grpc.keepalive_time_ms", milliseconds),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_pings_without_data", 0),
    )


async def idle_until(seconds: float, settings_interval: float, ping_ms: int) -> grpc.StatusCode | None:
    """Keep one idle stream open so long; None when it stays open, else the status that ended it."""

    async def silent(_text: str, _context: object) -> str:
        await asyncio.Event().wait()
        return ""

    settings = dev_settings(min_ping_interval_seconds=settings_interval, drain_grace_seconds=0.1)
    async with serving(silent, settings, pings_every(ping_ms)) as (_, client):
        call = client.channel.stream_stream(f"/{SERVICE}/Both", None, None)(None, metadata=ALICE)
        await call.write(b"")
        try:
            code: grpc.StatusCode = await asyncio.wait_for(call.code(), seconds)
        except TimeoutError:
            return None
        return code


async def test_a_client_that_pings_as_often_as_allowed_is_served_on() -> None:
    """On an idle stream, ten pings at the allowed pace end nothing (the pace scaled down, 10 s to 0.3 s)."""
    assert await idle_until(3.0, settings_interval=0.27, ping_ms=300) is None


async def test_a_client_that_pings_ten_times_as_often_is_cut_off() -> None:
    """The same stream with pings ten times too fast is ended by the server."""
    assert await idle_until(10.0, settings_interval=9.0, ping_ms=900) is grpc.StatusCode.UNAVAILABLE
