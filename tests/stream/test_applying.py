"""Messages are applied once and in order whatever is delivered, to whomever, how often; the checkpoint decides."""

import asyncio
from random import Random

import asyncpg
import pytest

from baohuang.database.pool import Connection, Pool
from baohuang.eventlog.port import LogUnavailable
from baohuang.stream.applying import Alarmed, Applying, Subscription
from baohuang.stream.port import PRECEDED_BY_HEADER, Message, Number, Order
from eventually import eventually
from stream.following import IN_ORDER, WHOLE, Writing, effects, reached
from stream.numbers import NUMBERS, Numbers, number

CHAINED = Subscription(NUMBERS, "chained", ("Counted",), Order.CHAINED)


def tens(last: int) -> list[Message]:
    """Return messages 10, 20, 30, …, each of which names the one before it."""
    return [
        Message(one.number, one.subject, one.body, {**one.headers, PRECEDED_BY_HEADER: str(one.number - 10)})
        for one in (number(n) for n in range(10, last + 1, 10))
    ]


class Tens:
    """Fills in from a source in which every tenth message is of the kind."""

    def __init__(self, last: int) -> None:
        self.messages = tens(last)
        self.asked: list[tuple[int, int]] = []

    async def __call__(self, _: Connection, after: Number, through: Number, limit: int) -> list[Message]:
        """See `Fill`."""
        self.asked.append((after, through))
        return [one for one in self.messages if after < one.number <= through][:limit]


async def test_five_deliveries_out_of_order_to_three_replicas(pool: Pool) -> None:
    """Every message comes five times, shuffled, in batches of any size, to replicas at once: each is applied once."""
    chance = Random(5)  # noqa: S311 (to be repeated, not to be unforeseeable)
    replicas = [Applying(pool, WHOLE, Writing()) for _ in range(3)]
    deliveries = Numbers(60).messages * 5
    chance.shuffle(deliveries)
    left = deliveries
    while left:
        batches = [left[at : at + chance.randint(1, 30)] for at in range(0, len(left), 30)]
        got = await asyncio.gather(
            *(chance.choice(replicas).take(batch) for batch in batches[:3]),
        )
        # What came too early is delivered again, as JetStream does with what is not acknowledged.
        left = [message for message in left if message.number > max(got)]
        chance.shuffle(left)
    assert await effects(pool) == list(range(1, 61))
    assert await reached(pool, 60)


async def test_replicas_take_turns(pool: Pool) -> None:
    """While one replica is in the middle of a transaction the other waits, and then finds everything done."""
    slow, quick = Writing(), Writing()
    slow.free.clear()
    messages = Numbers(5).messages
    first = asyncio.create_task(Applying(pool, WHOLE, slow).take(messages))
    await slow.inside.wait()
    second = asyncio.create_task(Applying(pool, WHOLE, quick).take(messages))
    await eventually(lambda: _waits_for_a_lock(pool))
    slow.free.set()
    assert [await first, await second] == [5, 5]
    assert not quick.inside.is_set()
    assert await effects(pool) == [1, 2, 3, 4, 5]


async def _waits_for_a_lock(pool: Pool) -> bool:
    return bool(
        await pool.fetchval(
            "select count(*) from pg_locks where not granted and locktype in ('transactionid', 'tuple')"
        )
    )


async def test_a_replica_killed_before_its_commit_has_done_nothing(pool: Pool, database_dsn: str) -> None:
    """The connection is cut between the effect and the commit: no effect, no checkpoint; the next one does it all."""
    cut = Writing()
    cut.free.clear()
    taking = asyncio.create_task(Applying(pool, WHOLE, cut).take(Numbers(3).messages))
    await cut.inside.wait()
    admin = await asyncpg.connect(database_dsn)
    assert await admin.fetchval(
        "select pg_terminate_backend(pid) from pg_stat_activity"
        " where state = 'idle in transaction' and datname = current_database()"
    )
    await admin.close()
    cut.free.set()
    with pytest.raises(LogUnavailable):
        await taking
    assert await effects(pool) == []
    assert await Applying(pool, WHOLE, Writing()).take(Numbers(3).messages) == 3
    assert await effects(pool) == [1, 2, 3]


async def test_a_gap_waits_for_what_is_missing(pool: Pool) -> None:
    """A consumer of the whole stream applies number n only after n - 1."""
    applying = Applying(pool, WHOLE, Writing())
    one, two, three, four = Numbers(4).messages
    assert await applying.take([one, three, four]) == 1
    assert await applying.take([two]) == 2
    assert await applying.take([four, three]) == 4
    assert await effects(pool) == [1, 2, 3, 4]


async def test_a_filtered_consumer_has_its_gaps_filled(pool: Pool) -> None:
    """10, then 40 brings 20 and 30 from the source as well, in order, whatever they say came before them."""
    fill = Tens(60)
    applying = Applying(pool, CHAINED, Writing(), fill)
    ten, twenty, _, forty, fifty, sixty = tens(60)
    assert await applying.take([ten]) == 10
    assert await applying.take([forty, fifty]) == 50
    assert fill.asked == [(0, 10), (10, 50)]
    assert await applying.take([twenty, sixty]) == 60
    assert await effects(pool) == [10, 20, 30, 40, 50, 60]


async def test_a_message_that_does_not_say_what_came_before_it(pool: Pool) -> None:
    """It is looked up in the source."""
    fill = Tens(20)
    bare = number(20)
    assert await Applying(pool, CHAINED, Writing(), fill).take([bare]) == 20
    assert await effects(pool) == [10, 20]


async def test_a_long_gap_is_filled_piece_by_piece(pool: Pool) -> None:
    """More than is read at once: each try gets further, until the message itself is reached."""
    fill = Tens(12_000)
    applying = Applying(pool, CHAINED, Writing(), fill)
    got = [await applying.take(tens(12_000)[-1:]) for _ in range(3)]
    assert got == [5_000, 10_000, 12_000]


@pytest.mark.parametrize("again", [number(2, "changed"), number(3, "changed")])
async def test_another_message_under_a_known_number_is_an_alarm(pool: Pool, again: Message) -> None:
    """The consumer stops, says so, and stays stopped, also after a restart, until somebody takes the alarm back."""
    applying = Applying(pool, WHOLE, Writing())
    await applying.take(Numbers(3).messages)
    with pytest.raises(Alarmed, match=f"message {again.number} has hash changed-{again.number}"):
        await applying.take([again, number(4)])
    for replica in (applying, Applying(pool, WHOLE, Writing())):
        with pytest.raises(Alarmed):
            await replica.take([number(4)])
    assert await effects(pool) == [1, 2, 3]
    await pool.execute("update checkpoints set alarm = null")
    assert await applying.take([number(4)]) == 4


@pytest.mark.parametrize("found", [10, 20, 30], ids=["before it", "at its place", "behind it"])
async def test_a_message_that_its_source_does_not_know_is_an_alarm(pool: Pool, found: int) -> None:
    """Somebody published what is not in the log, or the log was restored: nothing is applied, and the consumer stops.

    The message names the one before it as a true one does, wherever the log ends or goes on otherwise.
    """
    applying = Applying(pool, CHAINED, Writing(), Tens(found))
    forged = Message(Number(20), "", b"{}", {**number(20, "forged").headers, PRECEDED_BY_HEADER: "10"})
    with pytest.raises(Alarmed, match="message 20 with hash forged-20 is not in the source"):
        await applying.take([tens(10)[0], forged])
    assert await effects(pool) == []


async def test_a_message_with_a_body_of_somebody_elses(pool: Pool) -> None:
    """Under a true hash, which everybody is told who watches the table: what the source has is applied."""
    (ten,) = tens(10)
    await Applying(pool, CHAINED, Writing(), Tens(10)).take([Message(ten.number, ten.subject, b"{}", ten.headers)])
    assert [row["body"] for row in await pool.fetch("select body from effects")] == [ten.body.decode()]


async def test_a_known_number_that_was_never_gone_past_is_an_alarm(pool: Pool) -> None:
    """A filtered consumer is at 20; the log, restored, now has such a message at 15."""
    applying = Applying(pool, CHAINED, Writing(), Tens(20))
    await applying.take(tens(20))
    with pytest.raises(Alarmed, match="nothing was gone past"):
        await applying.take([number(15)])


async def test_a_poisonous_message_is_set_aside_and_the_others_go_on(pool: Pool) -> None:
    """It alone: with its reason and all that is needed to apply it later; nothing of it is left behind."""
    applying = Applying(pool, WHOLE, Writing(3))
    assert await applying.take(Numbers(5).messages) == 5
    assert await effects(pool) == [1, 2, 4, 5]
    (row,) = await pool.fetch("select * from set_aside")
    three = number(3)
    assert (row["number"], row["subject"], row["body"]) == (3, three.subject, three.body)
    assert "3 is poisonous" in row["error"]
    assert await applying.take(Numbers(5).messages) == 5


async def test_a_message_that_breaks_a_constraint_is_set_aside(pool: Pool) -> None:
    """What the tables themselves refuse is poison as well, found at the message and not at the commit."""

    async def apply(connection: Connection, messages: list[Message]) -> None:
        await connection.executemany(
            "insert into effects (number, body) values ($1, $2)", [(one.number, "x") for one in messages]
        )
        if any(one.number == 2 for one in messages):
            await connection.execute("insert into passed (consumer, number, hash) values ('a', 1, 'b'), ('a', 1, 'b')")

    assert await Applying(pool, WHOLE, apply).take(Numbers(3).messages) == 3  # type: ignore[arg-type]
    assert await effects(pool) == [1, 3]


async def test_where_order_matters_a_poisonous_message_waits_visibly(pool: Pool) -> None:
    """Nothing after it is applied; every try is counted; once it can be applied everything goes on."""
    writing = Writing(3)
    applying = Applying(pool, IN_ORDER, writing)
    for _ in range(2):
        assert await applying.take(Numbers(5).messages) == 2
    assert await pool.fetchval("select tried from set_aside") == 2
    writing.poisonous.clear()
    assert await applying.take(Numbers(5).messages) == 5
    assert await effects(pool) == [1, 2, 3, 4, 5]
    assert await pool.fetchval("select settled_as from set_aside") == "applied"


async def test_the_first_message_of_all_may_be_poisonous(pool: Pool) -> None:
    """Under either way of treating it."""
    assert await Applying(pool, WHOLE, Writing(1)).take([number(1)]) == 1
    assert await Applying(pool, IN_ORDER, Writing(1)).take([number(1), number(2)]) == 0
    assert {row["consumer"] for row in await pool.fetch("select consumer from set_aside")} == {"whole", "in-order"}


async def test_what_is_committed_is_told_when_others_can_read_it(pool: Pool) -> None:
    """Who is called after messages finds their effects over another connection; nobody is called for a failure."""
    told = asyncio.Event()
    applying = Applying(pool, WHOLE, Writing(), committed=told.set)
    apply = Writing()
    apply.free.clear()
    holding = asyncio.create_task(Applying(pool, WHOLE, apply, committed=told.set).take([number(1)]))
    await apply.inside.wait()
    assert not told.is_set()
    apply.free.set()
    await told.wait()
    assert await effects(pool) == [1]
    await holding
    told.clear()
    await applying.reached()
    with pytest.raises(Alarmed):
        await applying.take([number(1, "otherwise")])
    assert not told.is_set()
