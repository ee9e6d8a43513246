"""How a service ends at SIGTERM: from wherever it is, whatever hangs, within the grace period of its pod."""

import asyncio
import signal
from contextlib import suppress
from dataclasses import replace
from functools import partial

import asyncpg
import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from sqlalchemy import make_url

from baohuang.client import Patience, connect
from baohuang.embedded.nats import EmbeddedNats
from baohuang.rules.state import PlayerId
from command_line.identities import by_key
from command_line.serving import SERVED
from eventlog.test_lost_replies import wire_to
from eventually import eventually
from fleet.fleet import Fleet, Place, fleet_on
from fleet.replica import Replica

ON_THE_STREAM = ("table", "scoring", "rating")
HELD_UP = "select count(*) > 0 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
ON_A_DATABASE = (*ON_THE_STREAM, "matchmaking", "history")


async def test_every_service_says_first_that_it_goes_and_is_not_hurried(fleet: Fleet) -> None:
    """A second SIGTERM changes nothing: its probe is told NOT_SERVING while it still answers, and it exits with 0."""
    replicas = await asyncio.gather(*(fleet.start(service) for service in SERVED))
    ended = await asyncio.gather(*map(told_until_the_end, replicas))
    serving, gone = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING
    assert ended == [[serving, gone]] * len(SERVED)


async def told_until_the_end(replica: Replica) -> list[int]:
    """Watch the health as its probe sees it while it is sent SIGTERM twice; give what was told."""
    told = []
    request = health_pb2.HealthCheckRequest(service=replica.asked)
    async with grpc.aio.insecure_channel(replica.probe) as channel:
        watch = health_pb2_grpc.HealthStub(channel).Watch(request)
        with suppress(grpc.aio.AioRpcError):
            async for response in watch:
                told.append(response.status)
                replica.child.send(signal.SIGTERM)
    await replica.drained()
    return told


async def test_a_call_under_way_is_answered_after_sigterm(fleet: Fleet, place: Place) -> None:
    """Its append waits for a lock that is let go only when the service listens no more: it is answered, once."""
    replica = await fleet.start("table")
    locking = await asyncpg.connect(place.dsn)
    one_attempt, me = Patience(call_seconds=30.0, attempts=1), by_key(place.key)(PlayerId("an"))
    try:
        async with connect(fleet.address_of("table"), me, one_attempt) as client:
            lock = locking.transaction()
            await lock.start()
            await locking.execute("lock table eventlog.requests in exclusive mode")
            opening = asyncio.create_task(client.open_table("ourgame-simple"))
            await eventually(lambda: locking.fetchval(HELD_UP))
            ending = asyncio.create_task(fleet.end(replica))
            await eventually(partial(is_closed, fleet.address_of("table")))
            await lock.rollback()
            opened = await opening
            await ending
        assert await locking.fetchval("select array_agg(stream_id) from eventlog.heads") == [opened.table_id]
    finally:
        await locking.close()


async def is_closed(address: str) -> bool:
    """Tell whether nothing listens at "host:port" any more."""
    host, _, port = address.rpartition(":")
    try:
        _, writer = await asyncio.open_connection(host, int(port))
    except ConnectionRefusedError:
        return True
    writer.close()
    return False


@pytest.mark.parametrize("service", ON_A_DATABASE)
async def test_sigterm_while_it_starts(place: Place, service: str) -> None:
    """Its database accepts connections and says nothing: it gives up its start at once, with exit code 0."""
    came = asyncio.Event()

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.set()
        while await reader.read(1024):
            pass
        writer.close()

    silent = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    dsn = make_url(place.dsn).set(port=silent.sockets[0].getsockname()[1]).render_as_string(hide_password=False)
    async with fleet_on(replace(place, dsn=dsn)) as fleet:
        starting = fleet.launch(service)
        async with asyncio.timeout(60):
            await came.wait()
        await starting.drained()
        said = starting.child.program.log.read_text()
        assert ("ended while it started" in said, "listening on" in said) == (True, False)
    silent.close()


async def test_nats_hangs(fleet: Fleet, nats_server: EmbeddedNats) -> None:
    """Who is connected to a NATS that says nothing any more ends in time all the same."""
    replicas = await asyncio.gather(*(fleet.start(service) for service in ON_THE_STREAM))
    nats_server.child.send(signal.SIGSTOP)
    try:
        await asyncio.gather(*(replica.drained() for replica in replicas))
    finally:
        nats_server.child.send(signal.SIGCONT)


async def test_postgres_hangs(place: Place) -> None:
    """Its database says nothing any more, with a command of a player under way: it ends in time all the same."""
    async with wire_to(place.dsn) as (wire, near), fleet_on(replace(place, dsn=near)) as fleet:
        replicas = await asyncio.gather(*(fleet.start(service) for service in ON_A_DATABASE))
        async with connect(fleet.address_of("table"), by_key(place.key)(PlayerId("an"))) as client:
            await client.open_table("ourgame-simple")
            wire.carries.clear()
            opening = asyncio.create_task(client.open_table("ourgame-simple"))
            await asyncio.gather(*(replica.drained() for replica in replicas))
            opening.cancel()
        wire.carries.set()
