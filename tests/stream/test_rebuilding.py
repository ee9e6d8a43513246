"""An operator empties and refills a stream, and finds out whether it is its source."""

import asyncio
from collections.abc import Sequence

import pytest
from nats.js import JetStreamContext
from typer.testing import CliRunner, Result

from baohuang.database.pool import Pool
from baohuang.eventlog.postgres.log import open_log
from baohuang.stream.connection import connect_to
from baohuang.stream.jetstream import JetStream
from baohuang.stream.lease import Lease
from baohuang.stream.port import Message, Number, StreamMissing
from baohuang.stream.rebuilding import Comparison, compare, rebuild
from baohuang.stream.streams import SCORING_STREAM, TABLE_STREAM
from baohuang.stream.working import at_work
from command_line.main import app
from eventlog.commands import grow, new_stream
from eventually import eventually
from stream.following import consumer_of, effects, reached
from stream.numbers import NUMBERS, Numbers, number, relay_of


def lease_of(pool: Pool) -> Lease:
    """Return the lease an operator's command takes."""
    return Lease(pool, "numbers", 1.0)


async def compared(source: Numbers, url: str) -> Comparison:
    """Compare a source with its stream."""
    return await compare(source, NUMBERS, connect_to(url, "comparing"))


async def test_a_stream_is_rebuilt_under_a_running_relay_and_consumers(pool: Pool, nats_url: str) -> None:
    """It is emptied and filled while a relay publishes and a consumer applies: all end as if nothing had been."""
    source = Numbers(1200)
    reports: list[int] = []
    async with at_work(relay_of(source, pool, nats_url), consumer_of(pool, nats_url)):
        await eventually(lambda: reached(pool, 600))
        filled = await rebuild(source, NUMBERS, lease_of(pool), connect_to(nats_url, "operator"), reports.append)
        source.grow(50)
        await eventually(lambda: reached(pool, 1250), within=20)
    assert (filled, reports) == (1200, [500, 1000, 1200])
    assert await effects(pool) == list(range(1, 1251))
    assert await compared(source, nats_url) == Comparison(Number(1250), Number(1250), None)


@pytest.mark.parametrize(
    ("published", "found"),
    [
        (Numbers(700).messages, Comparison(Number(700), Number(700), None)),
        (Numbers(650).messages, Comparison(Number(700), Number(650), Number(651))),
        ([*Numbers(3).messages, number(4, "otherwise")], Comparison(Number(700), Number(4), Number(4))),
        (Numbers(705).messages, Comparison(Number(700), Number(705), None)),
        ([], Comparison(Number(700), Number(0), Number(1))),
    ],
    ids=["equal", "short", "other", "long", "empty"],
)
async def test_differences_are_found(nats_url: str, published: Sequence[Message], found: Comparison) -> None:
    """Which message is the first that is missing or other, and how many there are on both sides."""
    async with connect_to(nats_url, "publishing")() as client:
        stream = JetStream(client, NUMBERS)
        await stream.make()
        if published:
            await stream.publish(published)
    comparison = await compared(Numbers(700), nats_url)
    assert comparison == found
    assert comparison.equal == (published == Numbers(700).messages)


async def test_a_comparison_without_a_stream_says_so(nats_url: str) -> None:
    """It neither waits nor makes one."""
    with pytest.raises(StreamMissing):
        await compared(Numbers(1), nats_url)


async def test_the_command_rebuilds_and_compares(own_database_dsn: str, nats_url: str) -> None:
    """It fills what is empty, finds what was changed, and mends it; its exit code says whether all is well.

    What the log has not is not taken away but by who says that he wants it: the log may have lost it.
    """
    await write_log(own_database_dsn)
    assert (await run(own_database_dsn, nats_url, "--check")).exit_code == 1
    rebuilt = await run(own_database_dsn, nats_url)
    assert (rebuilt.exit_code, rebuilt.stdout.splitlines()[-3:]) == (
        0, ["log     7 events", "stream  7 messages", "the stream is the log"],
    )  # fmt: skip
    await forge(nats_url)
    found = await run(own_database_dsn, nats_url, "--check")
    assert (found.exit_code, "the stream has messages after 7" in found.stdout) == (1, True)
    refused = await run(own_database_dsn, nats_url)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "the stream has 8 messages, the log 7 events: nothing was changed" in refused.stderr
    assert (await run(own_database_dsn, nats_url, "--check")).exit_code == 1
    assert (await run(own_database_dsn, nats_url, "--give-up-the-rest")).exit_code == 0
    assert (await run(own_database_dsn, nats_url, "--check")).exit_code == 0


async def test_the_command_rebuilds_the_ledgers_stream(own_database_dsn: str, nats_url: str) -> None:
    """The same of what scoring publishes: what is of another past is found, and goes."""
    async with connect_to(nats_url, "the past")() as client:
        stream = JetStream(client, SCORING_STREAM)
        await stream.make()
        await JetStreamContext(client).publish(SCORING_STREAM.subject("t", "HandScored"), b"{}")
    found = await run(own_database_dsn, nats_url, "scoring", "--check")
    assert (found.exit_code, "the stream has messages after 0, where the ledger ends" in found.stdout) == (1, True)
    refused = await run(own_database_dsn, nats_url, "scoring")
    assert (refused.exit_code, "the stream has 1 messages, the ledger 0 postings" in refused.stderr) == (1, True)
    rebuilt = await run(own_database_dsn, nats_url, "scoring", "--give-up-the-rest")
    assert (rebuilt.exit_code, rebuilt.stdout.splitlines()[-3:]) == (
        0, ["ledger  0 postings", "stream  0 messages", "the stream is the ledger"],
    )  # fmt: skip


async def run(dsn: str, url: str, *options: str) -> Result:
    """Run the command, beside this test's own loop."""
    arguments = ["rebuild-stream", "--postgres-dsn", dsn, "--nats-url", url, *options]
    return await asyncio.to_thread(lambda: CliRunner().invoke(app, arguments))


async def write_log(dsn: str) -> None:
    """Append seven events."""
    async with open_log(dsn) as log:
        await grow(log, new_stream(), 3)
        await grow(log, new_stream(), 4)


async def forge(url: str) -> None:
    """Publish what is not in the log."""
    async with connect_to(url, "forger")() as client:
        await JetStreamContext(client).publish(TABLE_STREAM.subject("t", "HandFinished"), b"{}")
