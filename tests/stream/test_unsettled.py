"""How much is set aside is what the tables say, before a consumer has done anything and whoever set it aside."""

from collections.abc import MutableMapping, Sequence

import asyncpg
from structlog.testing import capture_logs

from baohuang.database.pool import Pool
from baohuang.stream.applying import Applying
from baohuang.stream.counts import SET_ASIDE, ConsumerCounts, read_consumer
from baohuang.stream.unsettled import Unsettled
from baohuang.stream.working import at_work
from eventually import eventually
from stream.following import IN_ORDER, WHOLE, Writing
from stream.numbers import Numbers

_QUICK = 0.01


def told(counts: ConsumerCounts) -> list[object]:
    """Return what a consumer of those counts tells of what is set aside."""
    (values,) = [one.values for one in read_consumer("whole", counts) if one.family is SET_ASIDE]
    return list(values.values())


async def test_what_another_replica_set_aside_is_counted_until_it_is_settled(pool: Pool) -> None:
    """By one that was started afterwards, of its own consumer alone; nothing is told before it has looked."""
    counts = ConsumerCounts()
    assert told(counts) == []
    await Applying(pool, WHOLE, Writing(2, 4)).take(Numbers(5).messages)
    writing = Writing(3)
    await Applying(pool, IN_ORDER, writing).take(Numbers(5).messages)
    waiting = ConsumerCounts()
    watched = Unsettled(pool, "whole", counts, every_seconds=_QUICK)
    async with at_work(watched, Unsettled(pool, "in-order", waiting, every_seconds=_QUICK)):
        await eventually(lambda: _are(counts, 2))
        await eventually(lambda: _are(waiting, 1))
        writing.poisonous.clear()
        await Applying(pool, IN_ORDER, writing).take(Numbers(5).messages)
        await eventually(lambda: _are(waiting, 0))
        assert told(counts) == [2]


async def test_what_was_found_stays_while_the_database_does_not_say(pool: Pool, database_dsn: str) -> None:
    """An alert does not end, and begin again, with an outage; afterwards it is looked again."""
    counts = ConsumerCounts()
    await Applying(pool, WHOLE, Writing(2)).take(Numbers(3).messages)
    schema = await pool.fetchval("select current_schema")
    admin = await asyncpg.connect(database_dsn)
    with capture_logs() as lines:
        async with at_work(Unsettled(pool, "whole", counts, every_seconds=_QUICK)):
            await eventually(lambda: _are(counts, 1))
            await admin.execute(f"set search_path to {schema}")
            await admin.execute("alter table set_aside rename to away")
            await admin.execute("update away set settled_as = 'skipped', settled_at = now()")
            await eventually(lambda: _is_said(lines, "set aside not looked for"))
            assert told(counts) == [1]
            await admin.execute("alter table away rename to set_aside")
            await eventually(lambda: _are(counts, 0))
    await admin.close()


async def _are(counts: ConsumerCounts, messages: int) -> bool:
    return told(counts) == [messages]


async def _is_said(lines: Sequence[MutableMapping[str, object]], event: str) -> bool:
    return event in {line["event"] for line in lines}
