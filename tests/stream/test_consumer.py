"""Relay, JetStream and consumers together: whatever happens to NATS, every consumer ends in the state of the source."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import asyncpg
import pytest

from baohuang.database.pool import Connection, Pool
from baohuang.embedded.nats import EmbeddedNats
from baohuang.metrics.family import Family
from baohuang.stream.connection import connect_to
from baohuang.stream.consumer import Consumer, message_in
from baohuang.stream.counts import LAG, RUNNING, read_consumer
from baohuang.stream.jetstream import JetStream
from baohuang.stream.port import Message
from baohuang.stream.pull import Pull
from baohuang.stream.working import at_work
from eventually import eventually
from stream.following import IN_ORDER, QUICK, Writing, consumer_of, effects, publish, reached, unacknowledged
from stream.numbers import NUMBERS, Numbers, relay_of
from stream.test_relay import wipe

WITHIN = 10.0
"""Seconds within which consumers go on after a failure."""


@asynccontextmanager
async def following(pool: Pool, url: str, source: Numbers, replicas: int = 1) -> AsyncIterator[None]:
    """Run a relay, and replicas of a consumer that applies whatever comes."""
    async with at_work(relay_of(source, pool, url), *(consumer_of(pool, url) for _ in range(replicas))):
        yield


async def all_applied(pool: Pool, source: Numbers) -> None:
    """Wait until everything is applied, and see that it was applied once and in order."""
    last = len(source.messages)
    await eventually(lambda: reached(pool, last), within=WITHIN)
    assert await effects(pool) == list(range(1, last + 1))


async def test_what_is_published_is_applied_and_acknowledged(pool: Pool, nats_url: str) -> None:
    """What was there and what comes later, in order; and JetStream hears of it, so that nothing is sent for ever."""
    source = Numbers(70)
    async with following(pool, nats_url, source):
        await all_applied(pool, source)
        source.grow(30)
        await all_applied(pool, source)
        await eventually(lambda: _nothing_left(nats_url))


async def test_a_consumer_that_ends_keeps_nothing_back(pool: Pool, nats_url: str) -> None:
    """It ends in the middle of a batch: what it took is applied and acknowledged, what else it was sent is given back.

    So nobody waits for the hour after which JetStream would deliver it again.
    """
    source, patient = Numbers(30), replace(QUICK, ack_seconds=3600.0)
    held = Writing()
    held.free.clear()
    async with at_work(consumer_of(pool, nats_url, held, pace=patient)):
        await publish(nats_url, source.messages)
        await held.inside.wait()
        asyncio.get_running_loop().call_later(0.1, held.free.set)
    taken = await effects(pool)
    assert taken == list(range(1, len(taken) + 1)) != []
    async with at_work(consumer_of(pool, nats_url, pace=patient)):
        await all_applied(pool, source)
        await eventually(lambda: _nothing_left(nats_url))


async def test_who_may_not_write_does_not_run(pool: Pool, database_dsn: str, nats_url: str) -> None:
    """It connects, and has no right to what it should write: never running, its lag not told; both with the right."""
    seen: list[bool] = []

    class Looking(Writing):
        async def __call__(self, connection: Connection, messages: Sequence[Message]) -> None:
            seen.append(consumer.counts.running)
            await super().__call__(connection, messages)

    async def tried() -> bool:
        return len(seen) >= 3

    async def runs() -> bool:
        return consumer.counts.running

    source = Numbers(10)
    await publish(nats_url, source.messages)
    schema = await pool.fetchval("select current_schema")
    admin = await asyncpg.connect(database_dsn)
    await admin.execute(f"revoke insert on {schema}.effects from baohuang_app")
    consumer = consumer_of(pool, nats_url, Looking())
    async with at_work(consumer):
        await eventually(tried, within=WITHIN)
        assert not any(seen)
        assert _told(consumer, LAG) == {}
        assert _told(consumer, RUNNING) == {("whole",): 0}
        await admin.execute(f"grant insert on {schema}.effects to baohuang_app")
        await admin.close()
        await all_applied(pool, source)
        await eventually(runs, within=WITHIN)
        assert _told(consumer, LAG) == {("whole",): 0}


def _told(consumer: Consumer, family: Family) -> Mapping[Any, Any]:
    (found,) = [one.values for one in read_consumer("whole", consumer.counts) if one.family == family]
    return found


async def _nothing_left(url: str) -> bool:
    return await unacknowledged(url) == 0


async def test_a_new_message_is_applied_at_once(pool: Pool, nats_url: str) -> None:
    """It does not wait for a pull to expire: ten in a row, each after the one before, in less than three pulls."""
    source = Numbers(1)
    async with at_work(consumer_of(pool, nats_url)):
        await publish(nats_url, source.messages)
        await all_applied(pool, source)
        begin = time.monotonic()
        for _ in range(10):
            source.grow(1)
            await publish(nats_url, source.messages[-1:])
            await all_applied(pool, source)
        assert time.monotonic() - begin < 3.0


async def test_a_consumer_that_is_there_first(pool: Pool, nats_server: EmbeddedNats) -> None:
    """It waits for the server, for the stream, and for what is in it."""
    url = await nats_server.start()
    await nats_server.stop()
    source = Numbers(10)
    async with at_work(consumer_of(pool, url)):
        await eventually(lambda: _tried(pool))
        await nats_server.start()
        async with at_work(relay_of(source, pool, url)):
            await all_applied(pool, source)


async def _tried(pool: Pool) -> bool:
    return bool(await pool.fetchval("select count(*) from checkpoints"))


@pytest.mark.parametrize("load", ["idle", "busy"])
@pytest.mark.parametrize("loss", ["restarted", "killed", "wiped", "deleted"])
async def test_consumers_go_on_within_ten_seconds(pool: Pool, nats_server: EmbeddedNats, loss: str, load: str) -> None:
    """NATS is restarted, killed, or wiped, or the stream is deleted, under idle or busy consumers: nothing is lost."""
    url = await nats_server.start()
    source = Numbers(100)
    async with following(pool, url, source, replicas=2):
        await all_applied(pool, source)
        source.busy = load == "busy"
        await lose(nats_server, url, loss)
        source.busy = False
        source.grow(50)
        await all_applied(pool, source)


async def lose(server: EmbeddedNats, url: str, loss: str) -> None:
    """Do to NATS what its operators do, or its machine."""
    match loss:
        case "restarted":
            await server.stop()
            await server.start()
        case "killed":
            await server.child.stop(())
            await server.stop()
            await server.start()
        case "wiped":
            await wipe(server)
        case _:
            async with connect_to(url, "operator")() as client:
                await JetStream(client, NUMBERS).remove()


async def test_a_consumer_killed_between_effect_and_acknowledgement(pool: Pool, nats_url: str) -> None:
    """It commits and is gone without a word to JetStream: all of it comes again, to another, and was applied once."""
    source = Numbers(15)
    await publish(nats_url, source.messages)
    async with connect_to(nats_url, "dying")() as client:
        dying = consumer_of(pool, nats_url)
        await dying._make_durable(client)
        async with Pull(client, NUMBERS.name, "whole", 20, 0.3) as pull:
            received = await pull.receive()
            assert await dying._applying.take([message_in(one) for one in received]) == len(received) > 0
    assert await unacknowledged(nats_url) == 15
    async with at_work(consumer_of(pool, nats_url)):
        await eventually(lambda: _nothing_left(nats_url))
    assert await effects(pool) == list(range(1, 16))


async def test_a_log_restored_behind_its_consumers_is_an_alarm(pool: Pool, nats_url: str) -> None:
    """The stream becomes what the source says now; the consumer, who knows better, stops and is listed."""
    source = Numbers(40)
    async with following(pool, nats_url, source):
        await all_applied(pool, source)
    del source.messages[30:]
    source.grow(20, "otherwise")
    async with following(pool, nats_url, source):
        await eventually(lambda: _alarmed(pool))
    assert await effects(pool) == list(range(1, 41))


async def _alarmed(pool: Pool) -> bool:
    return bool(
        await pool.fetchval("select alarm like 'message 31 has hash otherwise-31; said-31 was%' from checkpoints")
    )


async def test_a_consumer_whose_tables_were_lost_begins_anew(pool: Pool, database_dsn: str, nats_url: str) -> None:
    """JetStream believes it to be at the end; it is given everything again."""
    source = Numbers(30)
    async with following(pool, nats_url, source):
        await all_applied(pool, source)
        await eventually(lambda: _nothing_left(nats_url))
    admin = await asyncpg.connect(database_dsn)
    schema = await pool.fetchval("select current_schema")
    await admin.execute(f"truncate {schema}.checkpoints, {schema}.passed, {schema}.effects")
    await admin.close()
    async with following(pool, nats_url, source):
        await all_applied(pool, source)


async def test_a_poisonous_message_holds_up_who_needs_the_order(pool: Pool, nats_url: str) -> None:
    """It is tried again and again, and all goes on as soon as it can be applied."""
    source, writing = Numbers(10), Writing(4)
    async with at_work(relay_of(source, pool, nats_url), consumer_of(pool, nats_url, writing, IN_ORDER)):
        await eventually(lambda: _tried_often(pool))
        assert await effects(pool) == [1, 2, 3]
        writing.poisonous.clear()
        await eventually(lambda: reached(pool, 10, "in-order"))
    assert await effects(pool) == list(range(1, 11))


async def _tried_often(pool: Pool) -> bool:
    return bool(await pool.fetchval("select tried > 2 from set_aside where number = 4"))


async def test_messages_that_somebody_else_was_given_are_not_waited_for(pool: Pool, nats_url: str) -> None:
    """A replica died with messages in its hands, which JetStream will give to nobody for a minute: all goes on."""
    source, slow = Numbers(100), replace(QUICK, ack_seconds=60.0)
    await publish(nats_url, source.messages)
    async with connect_to(nats_url, "dying")() as client:
        await consumer_of(pool, nats_url, pace=slow)._make_durable(client)
        async with Pull(client, NUMBERS.name, "whole", 7, 0.3) as pull:
            assert await pull.receive()
    async with at_work(consumer_of(pool, nats_url, pace=slow), consumer_of(pool, nats_url, pace=slow)):
        await all_applied(pool, source)
