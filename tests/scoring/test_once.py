import asyncio
from collections.abc import Sequence

import asyncpg
import pytest

from baohuang.database.pool import Connection
from baohuang.eventlog.port import LogUnavailable
from baohuang.scoring.events import PostingNumber
from baohuang.stream.applying import Alarmed
from baohuang.stream.port import HASH_HEADER, Message
from baohuang.stream.table_messages import event_of
from bench.random_player import chance_of
from scoring.following import Ledger, balances_of
from scoring.recording import Recorder
from scoring_service.scores import posted
from scoring_service.scoring import score
from scoring_service.settling import settling_of

HANDS = 60


def recomputed(messages: Sequence[Message]) -> list[object]:
    """Score the events of the log in its order, without a ledger."""
    return [posted(PostingNumber(number), settling_of(event_of(message))) for number, message in enumerate(messages, 1)]


async def holds(ledger: Ledger) -> None:
    """Check that the ledger is what the log makes of it: each event once, in order, all in balance."""
    postings = await ledger.postings()
    assert postings == recomputed(await ledger.messages())
    assert await ledger.balances() == balances_of(postings)
    assert sum((await ledger.balances()).values()) == 0


async def test_delivered_five_times_out_of_order_to_several_replicas(recorder: Recorder, ledger: Ledger) -> None:
    """One posting an event, numbered in the order of the log, whoever got what, when, and how often."""
    await recorder.record_some(HANDS)
    messages = await ledger.messages()
    dice = chance_of("delivering")

    async def deliver() -> None:
        for _ in range(5):
            shuffled = dice.sample(messages, len(messages))
            replica = ledger.replica()
            while shuffled:
                count = dice.randint(1, 20)
                await replica.take(shuffled[:count])
                del shuffled[:count]

    await asyncio.gather(*(deliver() for _ in range(3)))
    assert len(messages) > HANDS
    await holds(ledger)


async def test_delivered_again_after_the_commit(recorder: Recorder, ledger: Ledger) -> None:
    """A replica that was killed between effect and acknowledgement has its messages come again: nothing changes."""
    await recorder.record_some(10)
    await ledger.follow()
    before = await ledger.fetch("select * from accounts order by account")
    await ledger.follow()
    assert await ledger.fetch("select * from accounts order by account") == before
    await holds(ledger)


async def test_killed_between_effect_and_commit(recorder: Recorder, ledger: Ledger, own_database_dsn: str) -> None:
    """All of what was written for the messages is gone with the connection, and another replica writes it once."""
    await recorder.record_some(10)
    messages = await ledger.messages()
    admin = await asyncpg.connect(own_database_dsn)
    reached = asyncio.Event()

    async def score_and_die(connection: Connection, given: Sequence[Message]) -> None:
        await score(connection, given)
        assert await connection.fetchval("select count(*) from postings") == len(messages)
        reached.set()
        await admin.execute("select pg_terminate_backend($1)", connection.get_server_pid())
        await connection.execute("select pg_sleep(60)")

    with pytest.raises(LogUnavailable):
        await ledger.replica(score_and_die).take(messages)
    assert reached.is_set()
    assert await ledger.postings() == []
    await admin.close()
    await ledger.follow()
    await holds(ledger)


async def test_replicas_take_turns(recorder: Recorder, ledger: Ledger, own_database_dsn: str) -> None:
    """While one replica's transaction is open, another waits for it and then finds its messages done."""
    await recorder.record_some(10)
    messages = await ledger.messages()
    written, go_on = asyncio.Event(), asyncio.Event()

    async def score_and_wait(connection: Connection, given: Sequence[Message]) -> None:
        await score(connection, given)
        written.set()
        await go_on.wait()

    first = asyncio.create_task(ledger.replica(score_and_wait).take(messages))
    await written.wait()
    second = asyncio.create_task(ledger.replica().take(messages))
    admin = await asyncpg.connect(own_database_dsn)
    waits = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    while not await admin.fetchval(waits):
        assert not second.done()
    await admin.close()
    go_on.set()
    await asyncio.gather(first, second)
    await holds(ledger)


async def test_another_event_under_a_known_position_is_an_alarm(recorder: Recorder, ledger: Ledger) -> None:
    """A log that was restored behind the ledger stops it, until somebody has looked: nothing more is scored."""
    await recorder.record_some(3)
    await ledger.follow()
    known = (await ledger.messages())[0]
    other = Message(known.number, known.subject, known.body, {**known.headers, HASH_HEADER: "00" * 32})
    with pytest.raises(Alarmed, match=f"message {known.number} has hash 0000"):
        await ledger.replica().take([other])
    postings = await ledger.postings()
    await recorder.record_some(3, seed=2)
    with pytest.raises(Alarmed):
        await ledger.follow()
    assert await ledger.postings() == postings
