"""A source gets into its stream whole, in order and once, whatever becomes of relays, NATS and the stream."""

import asyncio
from functools import partial
from typing import Any

import nats
import pytest
from nats.js import JetStreamContext
from nats.js.api import StreamConfig

from baohuang.database.pool import Pool
from baohuang.embedded.nats import EmbeddedNats
from baohuang.stream.connection import connect_to
from baohuang.stream.jetstream import EXPECTED_HEADER, JetStream
from baohuang.stream.lease import Lease
from baohuang.stream.port import OutOfTurn, StreamError, StreamMissing
from baohuang.stream.relay import Pace, Relay
from baohuang.stream.working import at_work
from eventually import eventually
from stream.numbers import NUMBERS, Numbers, number, relay_of, stored


async def holds(url: str, source: Numbers) -> bool:
    """Tell whether the stream holds all of the source, message n at sequence n, and nothing else."""
    try:
        found = await stored(url)
    except (nats.errors.Error, StreamError):
        return False
    wanted = [(one.number, one.subject, one.body) for one in source.messages]
    return [(sequence, subject, body) for sequence, subject, body, _ in found] == wanted


async def reached(url: str, last: int) -> bool:
    """Tell whether the stream has that many messages."""
    try:
        async with connect_to(url, "looking")() as client:
            return (await JetStream(client, NUMBERS).end()).number >= last
    except StreamError:
        return False


async def test_a_source_is_published_in_order_as_it_grows(pool: Pool, nats_url: str) -> None:
    """Message n of the source is message n of the stream, with subject, body and headers; what comes later too."""
    source = Numbers(120)
    relay = relay_of(source, pool, nats_url)
    async with at_work(relay):
        await eventually(lambda: reached(nats_url, 120))
        source.grow(30)
        relay.poke()
        await eventually(lambda: reached(nats_url, 150))
    assert await holds(nats_url, source)
    for (sequence, _, _, headers), message in zip(await stored(nats_url), source.messages, strict=True):
        assert headers == {**message.headers, EXPECTED_HEADER: str(sequence - 1)}


async def test_what_nobody_poked_is_found(pool: Pool, nats_url: str) -> None:
    """Without a poke the next poll finds what is new."""
    source = Numbers(1)
    async with at_work(relay_of(source, pool, nats_url)):
        await eventually(lambda: reached(nats_url, 1))
        source.grow(1)
        await eventually(lambda: reached(nats_url, 2))


async def test_who_stands_by_passes_pokes_on(pool: Pool, nats_url: str) -> None:
    """What a replica adds to a source is published at its poke, though another has the lease and does not poll."""
    source, unhurried = Numbers(1), Pace(poll_seconds=3600, gather_seconds=0.001)
    publishing, by = (
        Relay(source, NUMBERS, Lease(pool, "numbers", 3600), connect_to(nats_url, "relay"), unhurried) for _ in range(2)
    )
    async with at_work(publishing):
        await eventually(lambda: reached(nats_url, 1))
        async with at_work(by):
            for last in (2, 3):
                source.grow(1)
                by.poke()
                await eventually(partial(reached, nats_url, last))


async def test_a_hurry_waits_for_no_others(pool: Pool, nats_url: str) -> None:
    """Where pokes are gathered for an hour, one in a hurry has all published at once, also through who stands by."""
    source, gathering = Numbers(1), Pace(poll_seconds=3600, gather_seconds=3600)
    publishing, by = (
        Relay(source, NUMBERS, Lease(pool, "numbers", 3600), connect_to(nats_url, "relay"), gathering) for _ in range(2)
    )
    async with at_work(publishing):
        await eventually(lambda: reached(nats_url, 1))
        async with at_work(by):
            for last, relay in ((2, publishing), (3, by), (4, by)):
                source.grow(1)
                publishing.poke()
                relay.hurry()
                await eventually(partial(reached, nats_url, last))


async def test_of_two_relays_one_publishes(pool: Pool, nats_url: str) -> None:
    """Two run at once: one reads and publishes, the other waits for its lease; when the one ends, the other goes on.

    At once, however long the lease is.
    """
    source, idle = Numbers(10), Numbers(10)
    first, second = (relay_of(one, pool, nats_url, lease_seconds=3600.0) for one in (source, idle))
    async with at_work(second):
        async with at_work(first):
            await eventually(lambda: reached(nats_url, 10))
            looked = [bool(source.read_from), bool(idle.read_from)]
        idle.grow(10)
        source.grow(10)
        await eventually(lambda: reached(nats_url, 20))
    assert looked.count(True) == 1
    assert await holds(nats_url, source)


async def test_relays_that_all_believe_to_be_the_one(pool: Pool, nats_url: str) -> None:
    """With leases that end at once four relays publish against each other: the stream is the source all the same."""
    source = Numbers(300)
    relays = [relay_of(source, pool, nats_url, lease_seconds=0.0) for _ in range(4)]
    async with at_work(*relays):
        await eventually(lambda: reached(nats_url, 300), within=30)
        source.grow(200)
        await eventually(lambda: reached(nats_url, 500), within=30)
    assert await holds(nats_url, source)


async def test_a_killed_relay_is_replaced_when_its_lease_ends(pool: Pool, nats_url: str) -> None:
    """A holder that vanishes without a word: the next one goes on from what the stream has."""
    source = Numbers(40)
    await pool.execute(
        "insert into relays (source, holder, epoch, leased_until, number)"
        " values ('numbers', 'the dead', 7, clock_timestamp() + interval '0.4 s', 40)"
    )
    async with connect_to(nats_url, "the dead")() as client:
        stream = JetStream(client, NUMBERS)
        await stream.make()
        await stream.publish(source.messages[:25])
    async with at_work(relay_of(source, pool, nats_url)):
        await eventually(lambda: reached(nats_url, 40))
    assert await holds(nats_url, source)
    assert await pool.fetchval("select epoch from relays") == 8


async def test_a_publisher_that_slept_is_refused(nats_url: str) -> None:
    """What a stopped publisher sends when it wakes is stored where it belongs or not at all."""
    source = Numbers(30)
    async with connect_to(nats_url, "asleep")() as client:
        stream = JetStream(client, NUMBERS)
        await stream.make()
        await stream.publish(source.messages[:20])
        for late in (source.messages[:10], source.messages[5:15], [number(26)], [number(21), number(23)]):
            with pytest.raises(OutOfTurn):
                await stream.publish(late)
        end = await stream.end()
        assert end.whole
        await stream.publish(source.messages[end.number :])
    assert await holds(nats_url, source)


async def test_nats_restarted(pool: Pool, nats_server: EmbeddedNats) -> None:
    """The server goes away and comes back with its files: publishing goes on within 10 seconds, nothing twice."""
    url = await nats_server.start()
    source = Numbers(100)
    async with at_work(relay_of(source, pool, url)):
        await eventually(lambda: reached(url, 100))
        await nats_server.stop()
        source.grow(100)
        await nats_server.start()
        await eventually(lambda: reached(url, 200))
    assert await holds(url, source)


async def test_nats_wiped(pool: Pool, nats_server: EmbeddedNats) -> None:
    """The server comes back without its files: the stream is refilled from the source, from 1."""
    url = await nats_server.start()
    source = Numbers(100)
    async with at_work(relay_of(source, pool, url)):
        await eventually(lambda: reached(url, 100))
        await wipe(nats_server)
        source.grow(1)
        await eventually(lambda: reached(url, 101))
    assert await holds(url, source)


async def wipe(server: EmbeddedNats) -> None:
    """Restart a server without what JetStream had stored."""
    home = server.child.program.cwd
    await server.stop()
    assert (home / "jetstream" / "jetstream").is_dir()
    (home / "jetstream").rename(home / "lost")
    await server.start()


async def test_a_deleted_stream_is_refilled(pool: Pool, nats_url: str) -> None:
    """Somebody deletes the stream while the source has nothing new."""
    source = Numbers(100)
    async with at_work(relay_of(source, pool, nats_url)):
        await eventually(lambda: reached(nats_url, 100))
        async with connect_to(nats_url, "operator")() as client:
            await JetStream(client, NUMBERS).remove()
        await eventually(lambda: reached(nats_url, 100))
    assert await holds(nats_url, source)


@pytest.mark.parametrize("spoiling", ["purged", "holed", "foreign"])
async def test_a_stream_that_is_not_the_sources_is_made_anew(pool: Pool, nats_url: str, spoiling: str) -> None:
    """Emptied, with a message taken out, or with somebody else's messages in it: the source is published from 1."""
    source = Numbers(60)
    async with connect_to(nats_url, "somebody")() as client:
        context: Any = JetStreamContext(client)
        await context.add_stream(StreamConfig(name=NUMBERS.name, subjects=[NUMBERS.all_subjects]))
        await JetStream(client, NUMBERS).publish((Numbers(20, "forged") if spoiling == "foreign" else source).messages)
        if spoiling == "purged":
            await context.purge_stream(NUMBERS.name)
        elif spoiling == "holed":
            await context.delete_msg(NUMBERS.name, 7)
    async with at_work(relay_of(source, pool, nats_url)):
        await eventually(lambda: holds(nats_url, source))


async def test_nothing_can_be_taken_out_of_a_stream(nats_url: str) -> None:
    """The stream refuses to be purged and to have a message deleted; a stream that is not there says so."""
    async with connect_to(nats_url, "somebody")() as client:
        stream, context = JetStream(client, NUMBERS), JetStreamContext(client)
        with pytest.raises(StreamMissing):
            await stream.end()
        with pytest.raises(StreamMissing):
            await stream.publish([number(1)])
        await stream.make()
        await stream.publish([number(1)])
        for attempt in (context.purge_stream(NUMBERS.name), context.delete_msg(NUMBERS.name, 1)):
            with pytest.raises(nats.js.errors.APIError):
                await attempt


@pytest.mark.parametrize("more", [0, 7, 20, 40], ids=["and waits", "a little", "as far", "further"])
async def test_a_source_that_was_restored_behind_its_stream(pool: Pool, nats_url: str, more: int) -> None:
    """The source went back, and on from there otherwise: the stream becomes what it says now.

    If the stream was ahead still when a relay came, it says by how much, and goes on saying so.
    """
    source = Numbers(50)
    async with at_work(relay_of(source, pool, nats_url)):
        await eventually(lambda: reached(nats_url, 50))
    del source.messages[30:]
    source.grow(more, "otherwise")
    relay = relay_of(source, pool, nats_url)
    async with at_work(relay):
        await eventually(lambda: holds(nats_url, source))
        source.grow(5, "otherwise")
        await eventually(lambda: holds(nats_url, source))
    assert relay.counts.ahead == max(0, 20 - more)


@pytest.mark.parametrize("more", [0, 20, 21, 90], ids=["and waits", "as far", "one further", "much further"])
async def test_a_source_that_goes_back_under_a_relay(pool: Pool, nats_url: str, more: int) -> None:
    """The database failed over without its end, or was restored, unnoticed: the relay finds it at its next look.

    However far the source has gone on by then: nothing is published behind what is no more.
    """
    source = Numbers(50)
    relay = relay_of(source, pool, nats_url)
    async with at_work(relay):
        await eventually(lambda: reached(nats_url, 50))
        del source.messages[30:]
        source.grow(more, "otherwise")
        await eventually(lambda: holds(nats_url, source))
    assert relay.counts.ahead == max(0, 20 - more)


async def test_a_relay_without_nats_holds_no_lease(pool: Pool, nats_server: EmbeddedNats, nats_url: str) -> None:
    """Of two relays one cannot reach NATS: the other publishes."""
    source = Numbers(5)
    unreachable = relay_of(source, pool, nats_url.rpartition(":")[0] + ":1")
    async with at_work(unreachable):
        await asyncio.wait_for(_note(unreachable), 10)
        async with at_work(relay_of(source, pool, nats_url)):
            await eventually(lambda: reached(nats_url, 5))


async def _note(relay: Any) -> None:
    async def noted() -> bool:
        return bool(relay._trouble)

    await eventually(noted)
